import CompanionWire
package import FoundationEssentials

/// A host whose events can be watched.
package protocol EventReporting: Sendable {
    /// Reports events until the task is cancelled or the host no longer answers at its address.
    ///
    /// - Parameters:
    ///   - interval: The pause between two requests to a host that sends no events.
    ///   - progress: The progress of an earlier watch. Changes since then are reported first if the host can tell them.
    ///   - patience: How many connections in a row may fail before the watch gives up; nil for no limit.
    /// - Throws: ``CompanionClientError``; any error of `take`.
    func run(
        every interval: Duration,
        progress: LiveProgress,
        patience: Int?,
        _ take: (LiveEventStream.Output) async throws -> Void
    ) async throws
}

/// The live events of a host of protocol v2.
package struct LiveEvents: EventReporting {
    private let client: CompanionAPIClient

    package init(client: CompanionAPIClient) {
        self.client = client
    }

    package func run(
        every interval: Duration,
        progress: LiveProgress,
        patience: Int?,
        _ take: (LiveEventStream.Output) async throws -> Void
    ) async throws {
        try await LiveEventStream(client: client, patience: patience, progress: progress, clock: client.clock).run(take)
    }
}

/// Polls a host of protocol v1, which sends no events, and reports the differences as events.
package struct PolledEvents: EventReporting {
    private let client: CompanionAPIClient
    private let now: @Sendable () -> Date

    package init(client: CompanionAPIClient, now: @escaping @Sendable () -> Date) {
        self.client = client
        self.now = now
    }

    private struct Snapshot: Equatable {
        var device: ConnectedCompanionDevice?
        /// When each project and chat was last changed.
        var projects: [ByteText: Date] = [:]
        var chats: [ByteText: [ByteText: Date]] = [:]
    }

    package func run(
        every interval: Duration,
        progress: LiveProgress,
        patience: Int?,
        _ take: (LiveEventStream.Output) async throws -> Void
    ) async throws {
        var last: Snapshot?
        var hasFailed = false
        while true {
            do {
                let current = try await look(last)
                let events = last.map { changes(from: $0, to: current) } ?? []
                if hasFailed {
                    let what = events.isEmpty ? "nothing has changed" : "changes follow"
                    try await take(.resumed("\(client.target) answers again; \(what)."))
                }
                for event in events { try await take(.event(event)) }
                last = current
                hasFailed = false
            } catch let error as CompanionClientError where [.unreachable, .timedOut].contains(error.code) {
                if !hasFailed { try await take(.interrupted(error.message)) }
                hasFailed = true
            }
            try await client.clock.sleep(for: interval)
        }
    }

    /// Requests the chats only of projects that have changed.
    private func look(_ last: Snapshot?) async throws -> Snapshot {
        var snapshot = Snapshot(device: try await client.status().connectedDevice)
        for project in try await client.projects() {
            let changed = project.lastUpdatedAt ?? .distantPast
            let id = ByteText(project.id)
            snapshot.projects[id] = changed
            if let chats = last?.chats[id], last?.projects[id] == changed {
                snapshot.chats[id] = chats
            } else {
                let chats = try await client.chats(projectID: project.id)
                snapshot.chats[id] = Dictionary(
                    chats.map { (ByteText($0.id), $0.lastUpdatedAt ?? .distantPast) },
                    uniquingKeysWith: max
                )
            }
        }
        return snapshot
    }

    private func sorted(_ dates: [ByteText: Date]) -> [(key: ByteText, value: Date)] {
        dates.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
    }

    private func changes(from old: Snapshot, to new: Snapshot) -> [LiveEvent] {
        let now = now()
        var events: [LiveEvent] = []
        if old.device?.id != new.device?.id {
            if let gone = old.device {
                events.append(LiveEvent(.deviceDisconnected, at: now, deviceId: gone.id, deviceName: gone.name))
            }
            if let come = new.device {
                events.append(LiveEvent(.deviceConnected, at: now, deviceId: come.id, deviceName: come.name))
            }
        }
        for (project, changed) in sorted(new.projects) where old.projects[project] != changed {
            events.append(LiveEvent(.projectChanged, at: now, projectId: project.text))
            for (chat, changed) in sorted(new.chats[project] ?? [:]) where old.chats[project]?[chat] != changed {
                events.append(LiveEvent(.chatChanged, at: now, projectId: project.text, chatId: chat.text))
            }
        }
        return events
    }
}
