import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent

/// Polls a host that sends no events, and reports the differences as events.
struct LegacyWatch: Sendable {
    let session: HostSession
    let interval: Duration

    private struct Snapshot: Equatable {
        var device: ConnectedCompanionDevice?
        /// When each project and chat was changed last.
        var projects: [String: Date] = [:]
        var chats: [String: [String: Date]] = [:]
    }

    func run(_ take: (LiveEventStream.Output) -> Void) async throws {
        var last: Snapshot?
        var hasFailed = false
        while true {
            do {
                let now = try await look(last)
                let events = last.map { changes(from: $0, to: now) } ?? []
                if hasFailed {
                    let what = events.isEmpty ? "nothing has changed" : "changes follow"
                    take(.resumed("\(session.host.name) answers again; \(what)."))
                }
                events.forEach { take(.event($0)) }
                last = now
                hasFailed = false
            } catch let error as CompanionClientError where [.unreachable, .timedOut].contains(error.code) {
                if !hasFailed { take(.interrupted(error.message)) }
                hasFailed = true
            }
            try await ContinuousClock().sleep(for: interval)
        }
    }

    /// Asks for the chats of those projects only that have changed.
    private func look(_ last: Snapshot?) async throws -> Snapshot {
        var snapshot = Snapshot(device: try await session.devices.status().connectedDevice)
        for project in try await session.projects.projects() {
            let changed = project.lastUpdatedAt ?? .distantPast
            snapshot.projects[project.id] = changed
            if let chats = last?.chats[project.id], last?.projects[project.id] == changed {
                snapshot.chats[project.id] = chats
            } else {
                let chats = try await session.projects.chats(projectID: project.id)
                snapshot.chats[project.id] = Dictionary(
                    chats.map { ($0.id, $0.lastUpdatedAt ?? .distantPast) },
                    uniquingKeysWith: max
                )
            }
        }
        return snapshot
    }

    private func changes(from old: Snapshot, to new: Snapshot) -> [LiveEvent] {
        let now = session.context.now()
        var events: [LiveEvent] = []
        if old.device?.id != new.device?.id {
            if let gone = old.device {
                events.append(LiveEvent(.deviceDisconnected, at: now, deviceId: gone.id, deviceName: gone.name))
            }
            if let come = new.device {
                events.append(LiveEvent(.deviceConnected, at: now, deviceId: come.id, deviceName: come.name))
            }
        }
        for (project, changed) in new.projects.sorted(by: { $0.key < $1.key }) where old.projects[project] != changed {
            events.append(LiveEvent(.projectChanged, at: now, projectId: project))
            for (chat, changed) in (new.chats[project] ?? [:]).sorted(by: { $0.key < $1.key })
            where old.chats[project]?[chat] != changed {
                events.append(LiveEvent(.chatChanged, at: now, projectId: project, chatId: chat))
            }
        }
        return events
    }
}
