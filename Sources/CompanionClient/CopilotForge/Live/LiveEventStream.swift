package import CompanionWire

/// What happens at a host of protocol v2, as it happens: `GET /companion/live`.
package struct LiveEventStream: Sendable {
    package enum Output: Sendable, Hashable {
        case event(LiveEvent)
        /// The connection broke; it is made again after a while. The text is for people.
        case interrupted(String)
        /// The connection stands again, and what changed meanwhile follows. The text is for people.
        case resumed(String)
    }

    private let client: CompanionAPIClient
    private let patience: Int?
    private let progress: LiveProgress?
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - patience: How often in a row a connection may fail before the host counts as gone from there. Default: nil,
    ///     for ever.
    ///   - progress: How far an earlier feed came: what changed since then is read first. Default: nil, a gap is not
    ///     filled.
    ///   - clock: Measures the waits between two tries.
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

    /// Gives what happens until the task is cancelled, or the host counts as gone. A connection that breaks is made
    /// again.
    ///
    /// - Throws: ``CompanionClientError`` for what a new connection cannot mend (a revoked device, another key); what
    ///   `take` throws.
    package func run(_ take: (Output) async throws -> Void) async throws {
        var backoff = Backoff(client.configuration.retries)
        var failures = 0
        while true {
            try Task.checkCancellation()
            let reason: String
            do {
                try await client.live { event in
                    backoff.reset()
                    failures = 0
                    try await pass(event, take)
                }
                reason = "\(client.endpoint) closed the live connection."
            } catch let error as CompanionClientError where [.unreachable, .timedOut, .server].contains(error.code) {
                reason = error.message
            }
            progress?.interrupt()
            try await take(.interrupted(reason))
            failures += 1
            if let patience, failures > patience { return }
            try await clock.sleep(for: backoff.next() ?? client.configuration.retries.longestWait)
        }
    }

    private func pass(_ event: LiveEvent, _ take: (Output) async throws -> Void) async throws {
        guard let progress else { return try await take(.event(event)) }
        if event.type == .hello, let gap = progress.gap {
            try await take(.event(event))
            let missed = try await client.changes(since: gap).filter(progress.note)
            let what = missed.isEmpty ? "no chat changed meanwhile" : "what changed in chats meanwhile follows"
            try await take(.resumed("\(client.endpoint) is connected again; \(what)."))
            for event in missed { try await take(.event(event)) }
            progress.resume()
            _ = progress.note(event)
        } else if progress.note(event) {
            try await take(.event(event))
        }
    }
}

extension CompanionAPIClient {
    /// One live connection, until the host closes it.
    func live(_ take: (LiveEvent) async throws -> Void) async throws {
        guard let pin = security.certificate?.spki else {
            throw CompanionClientError(
                .unsupportedVersion,
                "\(endpoint) was paired by protocol 1, which has no live connection.",
                delivery: .notSent
            )
        }
        // Renews the session where it is over, so that the upgrade is not refused for that.
        _ = try await status()
        let connection: LiveConnection?
        do {
            connection = try await LiveConnection(client: self, pin: pin, token: try await session?.current())
        } catch {
            throw try await transport(error, answered: false)
        }
        guard let connection else {
            // A refusal is JSON like any other: asking without the upgrade brings it out.
            _ = try await json(.get("/companion/live"), as: CompanionErrorResponse.self)
            throw CompanionClientError(.badAnswer, "\(endpoint) did not answer with a WebSocket.")
        }
        try await connection.run(take)
    }
}
