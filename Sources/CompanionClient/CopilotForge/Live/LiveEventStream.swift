package import CompanionWire

/// The live events of a host of protocol v2: `GET /companion/live`.
package struct LiveEventStream: Sendable {
    /// An event, or a change of the connection.
    package enum Output: Sendable, Hashable {
        case event(LiveEvent)
        /// The connection broke and will be opened again after a pause. The text is for the user.
        case interrupted(String)
        /// The connection works again, and the changes since the break follow. The text is for the user.
        case resumed(String)
    }

    private let client: CompanionAPIClient
    private let patience: Int?
    private let progress: LiveProgress?
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - patience: How many connections in a row may fail before the stream gives up. Default: nil, no limit.
    ///   - progress: The progress of an earlier stream; changes since then are reported first. Default: nil, missed
    ///     changes are not reported.
    ///   - clock: Measures the pauses between retries.
    package init(
        client: CompanionAPIClient,
        patience: Int? = nil,
        progress: LiveProgress? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.client = client
        self.patience = patience
        self.progress = progress
        self.clock = clock
    }

    /// Reports events until the task is cancelled or the host no longer answers. Opens a new connection after a break.
    ///
    /// - Throws: ``CompanionClientError`` for errors that a new connection cannot fix (a revoked device, another key);
    ///   any error of `take`.
    package func run(_ take: (Output) async throws -> Void) async throws {
        var backoff = Backoff(client.configuration.retries)
        var failures = 0
        while true {
            try Task.checkCancellation()
            let reason: String
            let used = client.target
            do {
                try await client.live { event in
                    backoff.reset()
                    failures = 0
                    try await pass(event, take)
                }
                reason = "\(client.target) closed the live connection."
            } catch let error as CompanionClientError where [.unreachable, .timedOut, .server].contains(error.code) {
                reason = error.message
            }
            progress?.interrupt()
            try await take(.interrupted(reason))
            failures += 1
            if let patience, failures > patience { return }
            await client.line.renew(after: used)
            let wait = backoff.next() ?? client.configuration.retries.longestWait
            try await client.line.pause(for: wait, by: clock)
        }
    }

    private func pass(_ event: LiveEvent, _ take: (Output) async throws -> Void) async throws {
        guard let progress else { return try await take(.event(event)) }
        if event.type == .hello, let gap = progress.gap {
            try await take(.event(event))
            let missed = try await client.changes(since: gap).filter(progress.note)
            let what = missed.isEmpty ? "no chat changed meanwhile" : "the chats that changed meanwhile follow"
            try await take(.resumed("\(client.target) is connected again; \(what)."))
            for event in missed { try await take(.event(event)) }
            progress.resume()
            _ = progress.note(event)
        } else if progress.note(event) {
            try await take(.event(event))
        }
    }
}

extension CompanionAPIClient {
    /// Runs one live connection until the host closes it.
    func live(_ take: (LiveEvent) async throws -> Void) async throws {
        guard let pin = security.certificate?.spki else {
            throw CompanionClientError(
                .unsupportedVersion,
                message: "\(target) was paired by protocol 1, which has no live connection.",
                delivery: .notSent
            )
        }
        // Renews an expired session first, so that the host does not refuse the upgrade because of it.
        _ = try await status()
        let connection: LiveConnection?
        do {
            connection = try await LiveConnection(client: self, pin: pin, token: try await session?.current())
        } catch {
            throw try await transport(error, answered: false)
        }
        guard let connection else {
            // If the host refused, it answers the same request without the upgrade with a JSON error.
            _ = try await json(.get("/companion/live"), as: CompanionErrorResponse.self)
            throw CompanionClientError(.badAnswer, message: "\(target) did not answer with a WebSocket.")
        }
        try await connection.run(take)
    }
}
