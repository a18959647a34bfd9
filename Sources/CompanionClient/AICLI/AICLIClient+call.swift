import FoundationEssentials

/// One request on a WebSocket of its own.
extension AICLIClient {
    private enum Event: Sendable {
        case frame(AICLIFrame)
        case closed(AICLIClosure)
        /// The server was given the time to greet.
        case ungreeted
        /// The reply was waited for long enough.
        case timeOver
    }

    /// How long a server may take to greet (aicli: some builds never do).
    private static let greeting = Duration.seconds(3)

    /// Opens a WebSocket and waits until the server lets this device in.
    ///
    /// - Throws: ``CompanionClientError/Code/notPaired`` where it does not take the token.
    func call() async throws {
        _ = try await converse(nil, patience: .zero)
    }

    /// Sends one request and waits for its reply.
    ///
    /// - Parameter patience: How long. Default: 30 s.
    /// - Returns: The reply; nil where none came.
    /// - Throws: ``CompanionClientError``, for what the server reports too.
    func call(
        _ type: String,
        _ data: AICLIValue,
        patience: Duration = .seconds(30)
    ) async throws -> AICLIFrame? {
        try await converse(AICLIRequest(type, id: "\(type)-1", data), patience: patience)
    }

    private func converse(_ request: AICLIRequest?, patience: Duration) async throws -> AICLIFrame? {
        guard let socket = try await AICLISocket(client: self, longestSilence: .seconds(60)) else {
            throw CompanionClientError(.unreachable, "\(endpoint) did not open a WebSocket.", delivery: .notSent)
        }
        let (events, sink) = AsyncStream<Event>.makeStream()
        let (requests, outgoing) = AsyncStream<[UInt8]>.makeStream()
        defer { outgoing.finish() }
        return try await withThrowingDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            group.addTask {
                do {
                    let end = try await socket.run(sending: requests, limit: configuration.limits.answer) {
                        sink.yield(.frame($0))
                    }
                    sink.yield(.closed(end))
                } catch {
                    // After the reply nobody asks how the connection ended; thrown, it would take the reply's place.
                    guard !Task.isCancelled else { return }
                    throw error
                }
            }
            @Sendable func wait(_ time: Duration, _ then: Event) async {
                try? await ContinuousClock().sleep(for: time)
                sink.yield(then)
            }
            group.addTask { await wait(Self.greeting, .ungreeted) }
            var isSent = false
            for await event in events {
                switch event {
                case .closed(let closure):
                    if closure.isRefusal {
                        throw CompanionClientError(.notPaired, "\(endpoint) does not take the token.")
                    }
                    throw closure.error
                        ?? CompanionClientError(.unreachable, "The host closed the connection.", delivery: .unknown)
                case .frame(let frame) where isSent && frame.requestID == request?.requestID:
                    if case .failure(let error) = AICLIEvent(frame) { throw error.clientError }
                    return frame
                case .frame(let frame):
                    if AICLIEvent(frame) == .connected, request != nil { throw AICLIGeneration.http.refusal }
                    if isSent { continue }
                case .timeOver: return nil
                case .ungreeted: if isSent { continue }
                }
                guard let request else { return nil }
                isSent = true
                outgoing.yield(request.json(now: Date()))
                group.addTask { await wait(patience, .timeOver) }
            }
            throw CancellationError()
        }
    }
}
