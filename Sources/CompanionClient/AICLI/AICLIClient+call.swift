import CompanionWire
import FoundationEssentials

/// One request on its own WebSocket.
extension AICLIClient {
    private enum Event: Sendable {
        case frame(AICLIFrame)
        case closed(AICLIClosure)
        /// The server sent no greeting in time.
        case ungreeted
        /// No reply came in time.
        case timeOver
    }

    /// How long to wait for the server's greeting. Some builds never send one (aicli).
    private static let greeting = Duration.seconds(3)

    /// Opens a WebSocket and waits until the server accepts this device.
    ///
    /// - Throws: ``CompanionClientError/Code/notPaired`` if the server refuses the token.
    func call() async throws {
        _ = try await converse(nil, patience: .zero)
    }

    /// Sends one request and waits for its reply.
    ///
    /// - Parameter patience: How long to wait. Default: 30 s.
    /// - Returns: The reply; nil if none came.
    /// - Throws: ``CompanionClientError``, also for errors that the server reports.
    func call(
        _ type: String,
        data: JSONValue,
        patience: Duration = .seconds(30)
    ) async throws -> AICLIFrame? {
        try await converse(AICLIRequest(type, id: "\(type)-1", data: data), patience: patience)
    }

    private func converse(_ request: AICLIRequest?, patience: Duration) async throws -> AICLIFrame? {
        guard let socket = try await AICLISocket(client: self, longestSilence: .seconds(60)) else {
            throw CompanionClientError(
                .unreachable,
                message: "\(endpoint) did not open a WebSocket.",
                delivery: .notSent
            )
        }
        let (events, sink) = AsyncStream<Event>.makeStream()
        let (requests, outgoing) = AsyncStream<[UInt8]>.makeStream()
        defer { outgoing.finish() }
        return try await withThrowingDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            group.addTask {
                do {
                    let end = try await socket.run(sending: requests, within: StreamBudget(configuration.limits)) {
                        sink.yield(.frame($0))
                    }
                    sink.yield(.closed(end))
                } catch {
                    // Once the reply is here, an error of the connection must not replace it.
                    guard !Task.isCancelled else { return }
                    throw error
                }
            }
            @Sendable func wait(_ time: Duration, then: Event) async {
                try? await ContinuousClock().sleep(for: time)
                sink.yield(then)
            }
            group.addTask { await wait(Self.greeting, then: .ungreeted) }
            var isSent = false
            for await event in events {
                switch event {
                case .closed(let closure):
                    if closure.isRefusal {
                        throw CompanionClientError(.notPaired, message: "\(endpoint) rejected the token.")
                    }
                    throw closure.error
                        ?? CompanionClientError(
                            .unreachable,
                            message: "The host closed the connection.",
                            delivery: .unknown
                        )
                // A stored frame may have the id of an earlier request.
                case .frame(let frame) where isSent && !frame.isQueued && frame.requestID == request?.requestID:
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
                group.addTask { await wait(patience, then: .timeOver) }
            }
            throw CancellationError()
        }
    }
}
