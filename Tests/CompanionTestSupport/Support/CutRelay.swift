import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A tunnel before a host, as `ssh -L` or a container's port: it accepts, passes bytes on both ways, and can be cut.
package struct CutRelay: Sendable {
    /// The treatment of new connections after a cut.
    package enum AfterCut: Sendable {
        /// The tunnel stands again at once.
        case stands
        /// So many connections are accepted and closed, then it stands again.
        case away(connections: Int)
        /// Every connection is accepted and closed.
        case gone
    }

    /// The port at 127.0.0.1 that clients connect to in place of the host's.
    package let port: Int
    fileprivate let state: NIOLockedValueBox<RelayState>

    /// Cuts the tunnel once, when the host has sent so many bytes on a connection.
    ///
    /// - Parameters:
    ///   - skipped: So many connections are left alone first. Default: 0.
    ///   - request: Only a connection counts on which the client has sent this text, from there on. Default: nil, the
    ///     first connection from now on, from its beginning.
    package func cut(
        after bytes: Int,
        skipping skipped: Int = 0,
        of request: String? = nil,
        then aftermath: AfterCut = .stands
    ) {
        state.withLockedValue {
            $0.plan = RelayState.Plan(
                bytes: bytes,
                first: $0.accepted + skipped + 1,
                request: request.map { Array($0.utf8) },
                aftermath: aftermath
            )
            $0.refusals = 0
            $0.isGone = false
        }
    }

    /// Cuts connections again and again: each one when the host has sent so many bytes on it from now on.
    ///
    /// - Parameters:
    ///   - times: Cuts of all connections.
    ///   - bytes: Draws where a connection is cut.
    package func cutEach(times: Int, after bytes: @escaping @Sendable () -> Int) {
        state.withLockedValue { ($0.cutsLeft, $0.draw) = (times, bytes) }
    }

    /// How often a connection was cut by ``cutEach(times:after:)``.
    package var cuts: Int { state.withLockedValue { $0.cuts } }

    /// Drops all that comes from now on, either way, on connections that stand; new ones are as ever. Nobody is told.
    package func swallow() {
        state.withLockedValue { state in
            for connection in state.connections { connection.swallows.withLockedValue { $0 = true } }
        }
    }

    /// Drops all that comes on the next connections, either way. Nobody is told.
    package func swallowNew(connections: Int) {
        state.withLockedValue { $0.silences = connections }
    }

    /// Ends all connections; new ones are accepted and closed until ``open()``.
    ///
    /// - Parameter butSpeaking: Whether the one on which the host has sent something last stands.
    package func close(butSpeaking: Bool = false) {
        let channels = state.withLockedValue { state in
            state.isGone = true
            guard butSpeaking, let speaking = state.speaking else { return state.channels }
            return state.connections.filter { ObjectIdentifier($0) != speaking }.flatMap(\.channels)
        }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Lets new connections through again.
    package func open() {
        state.withLockedValue { $0.isGone = false }
    }

    /// Whether the cut has happened.
    package var wasCut: Bool { state.withLockedValue { $0.plan == nil } }

    /// How many connections were accepted so far.
    package var accepted: Int { state.withLockedValue { $0.accepted } }
}

private struct RelayState {
    struct Plan {
        var bytes: Int
        /// The number of the first connection that counts.
        var first: Int
        var request: [UInt8]?
        var aftermath: CutRelay.AfterCut
        /// The connection that it is about, once that is known.
        var connection: ObjectIdentifier?
    }

    var plan: Plan?
    /// Cuts that are to come, where a connection is cut, and what is left of that for those that stand.
    var cutsLeft = 0
    var draw: @Sendable () -> Int = { .max }
    var offsets: [ObjectIdentifier: Int] = [:]
    var cuts = 0
    var refusals = 0
    var silences = 0
    var isGone = false
    var accepted = 0
    var connections: [RelayConnection] = []
    /// The connection on which the host has sent something last.
    var speaking: ObjectIdentifier?
    var channels: [any Channel] = []

    /// - Returns: Whether a new connection is closed at once.
    mutating func refusesConnection() -> Bool {
        accepted += 1
        guard refusals > 0 else { return isGone }
        refusals -= 1
        return true
    }

    /// Notes that a connection's client has sent something.
    mutating func noteRequest(on connection: RelayConnection) {
        guard let plan, let request = plan.request, plan.connection == nil, connection.sent.containsRun(request)
        else { return }
        self.plan?.connection = ObjectIdentifier(connection)
    }

    /// How many of some bytes of the host go through; less than all where the tunnel is cut there.
    mutating func passed(_ count: Int, on connection: RelayConnection) -> Int {
        speaking = ObjectIdentifier(connection)
        if cutsLeft > 0 {
            let left = offsets[ObjectIdentifier(connection)] ?? draw()
            offsets[ObjectIdentifier(connection)] = left - count
            guard count > left else { return count }
            offsets[ObjectIdentifier(connection)] = nil
            (cutsLeft, cuts) = (cutsLeft - 1, cuts + 1)
            return left
        }
        guard var plan else { return count }
        if plan.request == nil, plan.connection == nil, connection.number >= plan.first {
            plan.connection = ObjectIdentifier(connection)
        }
        guard plan.connection == ObjectIdentifier(connection) else { return count }
        guard count > plan.bytes else {
            plan.bytes -= count
            self.plan = plan
            return count
        }
        self.plan = nil
        switch plan.aftermath {
        case .stands: break
        case .away(let connections): refusals = connections
        case .gone: isGone = true
        }
        return plan.bytes
    }
}

/// The state of one connection through the tunnel.
private final class RelayConnection: Sendable {
    let number: Int
    let swallows = NIOLockedValueBox(false)

    init(number: Int) {
        self.number = number
    }

    private let text = NIOLockedValueBox<[UInt8]>([])
    private let ends = NIOLockedValueBox<[any Channel]>([])

    /// Towards the client and towards the host.
    var channels: [any Channel] { ends.withLockedValue { $0 } }

    func note(_ channel: any Channel) { ends.withLockedValue { $0.append(channel) } }

    var sent: [UInt8] { text.withLockedValue { $0 } }

    func note(_ bytes: ByteBufferView) { text.withLockedValue { $0 += bytes } }
}

extension [UInt8] {
    fileprivate func containsRun(_ run: [UInt8]) -> Bool {
        guard count >= run.count else { return false }
        return (0...(count - run.count)).contains { self[$0...].starts(with: run) }
    }
}

/// Runs `body` with a tunnel before a port of this machine, and ends the tunnel behind it.
package func withCutRelay<Result>(
    before hostPort: Int,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (CutRelay) async throws -> Result
) async throws -> Result {
    let state = NIOLockedValueBox(RelayState())
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .childChannelOption(.autoRead, value: false)
        .childChannelInitializer { channel in
            let refuses = state.withLockedValue { state in
                state.channels.append(channel)
                return state.refusesConnection()
            }
            guard !refuses else {
                // The other side sees a connection that stands and ends.
                channel.eventLoop.execute { channel.close(promise: nil) }
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            let connection = state.withLockedValue { state in
                let connection = RelayConnection(number: state.accepted)
                if state.silences > 0 {
                    state.silences -= 1
                    connection.swallows.withLockedValue { $0 = true }
                }
                state.connections.append(connection)
                return connection
            }
            connection.note(channel)
            let connecting = ClientBootstrap(group: channel.eventLoop)
                .channelInitializer { other in
                    other.eventLoop.makeCompletedFuture {
                        try other.pipeline.syncOperations.addHandler(
                            CutHandler(to: channel, state: state, connection: connection, isHost: true)
                        )
                    }
                }
                .connect(host: "127.0.0.1", port: hostPort)
            return connecting.flatMap { other in
                state.withLockedValue { $0.channels.append(other) }
                connection.note(other)
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        CutHandler(to: other, state: state, connection: connection, isHost: false)
                    )
                }
                .flatMap { channel.setOption(.autoRead, value: true) }
            }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    let outcome: Swift.Result<Result, any Error>
    do {
        outcome = .success(try await body(CutRelay(port: server.localAddress?.port ?? 0, state: state)))
    } catch {
        outcome = .failure(error)
    }
    try? await server.close()
    for channel in state.withLockedValue({ $0.channels }) { try? await channel.close() }
    return try outcome.get()
}

/// Passes on what one side sends, as far as the tunnel goes.
private final class CutHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let other: any Channel
    private let state: NIOLockedValueBox<RelayState>
    private let connection: RelayConnection
    private let isHost: Bool

    init(to other: any Channel, state: NIOLockedValueBox<RelayState>, connection: RelayConnection, isHost: Bool) {
        self.other = other
        self.state = state
        self.connection = connection
        self.isHost = isHost
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        guard !connection.swallows.withLockedValue({ $0 }) else { return }
        guard isHost else {
            connection.note(bytes.readableBytesView)
            state.withLockedValue { $0.noteRequest(on: connection) }
            return other.writeAndFlush(bytes, promise: nil)
        }
        let count = bytes.readableBytes
        let passed = state.withLockedValue { $0.passed(count, on: connection) }
        guard passed < count else { return other.writeAndFlush(bytes, promise: nil) }
        let rest = bytes.readSlice(length: passed) ?? ByteBuffer()
        // What goes through is written before the end: both sides see a connection that closes.
        let (mine, theirs) = (context.channel, other)
        theirs.writeAndFlush(rest).whenComplete { _ in
            theirs.close(promise: nil)
            mine.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard !connection.swallows.withLockedValue({ $0 }) else { return }
        other.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
