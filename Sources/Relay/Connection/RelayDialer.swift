import CompanionWire
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Connects to a relay, and waits until something has been reached over the connection.
struct RelayDialer: Sendable {
    let address: RelayAddress
    /// The most time from the first packet to the value.
    let limit: Duration

    /// Connects, and returns what the set-up promises.
    ///
    /// Every connection has one event loop; `setUp` and all of its handlers run there. The channel is active already
    /// and reads nothing by itself. It is closed where the promise fails, also by the end of the time or of the task.
    ///
    /// - Parameter setUp: Adds handlers that keep the promise. It is not called for connections that lose the race
    ///   between IPv6 and IPv4 (RFC 8305).
    /// - Throws: `RelayError`; `CancellationError`.
    func connect<Value: Sendable>(
        _ setUp: @escaping @Sendable (any Channel, EventLoopPromise<Value>) throws -> Void
    ) async throws -> Value {
        let relay = address.authority
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let reached = loop.makePromise(of: Value.self)
        let connecting = ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(limit))
            .channelOption(.autoRead, value: false)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // A peer that has vanished without a word is noticed even where nothing is sent.
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .connect(host: address.name, port: address.port)
        let isConnected = NIOLockedValueBox(false)
        let deadline = loop.scheduleTask(in: TimeAmount(limit)) {
            reached.fail(
                isConnected.withLockedValue(\.self)
                    ? RelayError.timedOut(relay, after: limit) : .unreachable(relay, because: "it does not answer")
            )
        }
        connecting.whenComplete { result in
            isConnected.withLockedValue { $0 = true }
            do {
                let channel = try result.get()
                guard channel.isActive else { throw RelayError.closed(relay) }
                try setUp(channel, reached)
            } catch {
                reached.fail(RelayError.transport(error, relay: relay))
            }
        }
        reached.futureResult.whenComplete { result in
            deadline.cancel()
            if case .failure = result { connecting.whenSuccess { $0.close(promise: nil) } }
        }
        return try await withTaskCancellationHandler {
            try await reached.futureResult.get()
        } onCancel: {
            reached.fail(CancellationError())
        }
    }
}
