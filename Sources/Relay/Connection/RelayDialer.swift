import CompanionWire
import NIOCore
import NIOPosix

/// Connects to a relay, and waits until something has been reached over the connection.
///
/// Where the relay accepts and then sends not a byte, a second connection tries the same beside the first. Strelaysrv
/// (1.19.2, and its newest version) reads the first byte of a connection before it accepts the next one, and for a second
/// only. One whose first packet is lost, and comes again later than that, is never answered.
struct RelayDialer: Sendable {
    let address: RelayAddress
    /// The most time from the first packet to the value.
    let limit: Duration
    /// How long a connection may be silent before there is a second, beside two round trips.
    let patience: Duration

    init(client: RelayClient) {
        (address, limit, patience) = (client.address, client.timeout, client.patience)
    }

    /// Connects, and returns what the set-up promises.
    ///
    /// Every connection has one event loop; `setUp` and all of its handlers run there. The channel is active already
    /// and reads nothing by itself. It is closed where the promise fails, also by the end of the time or of the task.
    ///
    /// - Parameter setUp: Adds handlers that keep the promise, for each of at most two connections. It is not called for
    ///   those that lose the race between IPv6 and IPv4 (RFC 8305).
    /// - Throws: `RelayError`; `CancellationError`.
    func connect<Value: Sendable>(
        _ setUp: @escaping @Sendable (any Channel, EventLoopPromise<Value>) throws -> Void
    ) async throws -> Value {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let reached = loop.makePromise(of: Value.self)
        loop.execute { RelayDial(self, on: loop, reached: reached, setUp: setUp).start() }
        return try await withTaskCancellationHandler {
            try await reached.futureResult.get()
        } onCancel: {
            reached.fail(CancellationError())
        }
    }
}

/// What ``RelayDialer`` does on the event loop of its connections.
private final class RelayDial<Value: Sendable> {
    typealias SetUp = @Sendable (any Channel, EventLoopPromise<Value>) throws -> Void

    private let dialer: RelayDialer
    private let loop: any EventLoop
    private let reached: EventLoopPromise<Value>
    private let setUp: SetUp
    /// The connections that have neither reached it nor failed, by their number.
    private var open: [Int: EventLoopFuture<any Channel>] = [:]
    private var isConnected = false
    /// Whether the relay has sent anything. It knows of the connection then, and another one would be a second request.
    private var isHeard = false
    /// Why a connection has failed while another one was open.
    private var failure: (any Error)?
    private var timers: [Scheduled<Void>] = []

    init(_ dialer: RelayDialer, on loop: any EventLoop, reached: EventLoopPromise<Value>, setUp: @escaping SetUp) {
        (self.dialer, self.loop, self.reached, self.setUp) = (dialer, loop, reached, setUp)
    }

    private var relay: String { dialer.address.authority }

    func start() {
        reached.futureResult.assumeIsolated().whenComplete { _ in self.end() }
        after(dialer.limit) {
            let silence =
                self.isConnected
                ? RelayError.timedOut(self.relay, after: self.dialer.limit)
                : .unreachable(self.relay, because: "it does not answer")
            self.reached.fail(self.failure ?? silence)
        }
        connect(number: 1) { roundTrip in
            self.after(self.dialer.patience + roundTrip * 2) {
                guard !self.isHeard else { return }
                self.connect(number: 2) { _ in }
            }
        }
    }

    private func after(_ wait: Duration, _ body: @escaping () -> Void) {
        timers.append(loop.assumeIsolated().scheduleTask(in: TimeAmount(wait), body))
    }

    /// - Parameter onConnected: Gets how long that took, when something waits for the relay's answer.
    private func connect(number: Int, onConnected: @escaping (Duration) -> Void) {
        let start = loop.now
        let connecting = ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(dialer.limit))
            .channelOption(.autoRead, value: false)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // A peer that has vanished without a word is noticed even where nothing is sent.
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .connect(host: dialer.address.name, port: dialer.address.port)
        open[number] = connecting
        let outcome = loop.makePromise(of: Value.self)
        outcome.futureResult.assumeIsolated().whenComplete { self.finish(number: number, $0) }
        connecting.assumeIsolated().whenComplete { result in
            guard self.open[number] != nil else { return }
            self.isConnected = true
            do {
                let channel = try result.get()
                guard channel.isActive else { throw RelayError.closed(self.relay) }
                try channel.pipeline.syncOperations.addHandler(FirstBytes { self.isHeard = true })
                try self.setUp(channel, outcome)
                onConnected(Duration(self.loop.now - start))
            } catch {
                outcome.fail(RelayError.transport(error, relay: self.relay))
            }
        }
    }

    private func finish(number: Int, _ result: Result<Value, any Error>) {
        guard let connecting = open.removeValue(forKey: number) else { return }
        switch result {
        case .success(let value): reached.succeed(value)
        case .failure(let error):
            connecting.whenSuccess { $0.close(promise: nil) }
            if open.isEmpty { reached.fail(error) } else { failure = error }
        }
    }

    private func end() {
        for timer in timers { timer.cancel() }
        for connecting in open.values { connecting.whenSuccess { $0.close(promise: nil) } }
        open = [:]
    }
}

/// Tells when something has come, and leaves the pipeline.
private final class FirstBytes: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let tell: () -> Void

    init(_ tell: @escaping () -> Void) {
        self.tell = tell
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        tell()
        context.fireChannelRead(data)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
}
