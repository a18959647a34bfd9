package import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
package import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
package import Relay

/// The local end of a route that is no address: a Unix socket, each connection of which is carried to the host.
///
/// The socket is in a directory that only this user may enter. Nothing is trusted to the tunnel: the connection through
/// it is TLS that ends at the host's key.
package final class Tunnel: Sendable {
    /// The settings of tunnels.
    package struct Settings: Sendable {
        /// The directory for sockets; made (0700) when it is missing.
        var directory: String
        /// The directory of this device's keys: an identity for relays for each host.
        var keys: String
        var logger: Logger

        package init(directory: String, keys: String, logger: Logger) {
            (self.directory, self.keys, self.logger) = (directory, keys, logger)
        }

        /// The file with what this device shows to relays for a host, and for no other: a relay is not to see that two
        /// hosts have the same device.
        package func identityFile(forHost id: RelayID) -> RelayIdentityFile {
            RelayIdentityFile(path: "\(keys)/relay-\(id.bytes.prefix(8).hexText).pem")
        }
    }

    typealias Pipe = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// How long a connection through a tunnel may take to stand.
    static let connectLimit = Duration.seconds(20)

    package let route: HostRoute
    let path: String
    private let settings: Settings
    private let lastFailure = NIOLockedValueBox<CompanionClientError?>(nil)

    private init(_ route: HostRoute, path: String, settings: Settings) {
        (self.route, self.path, self.settings) = (route, path, settings)
    }

    /// Why the last connection was not carried, if it was not.
    var failure: CompanionClientError? { lastFailure.withLockedValue(\.self) }

    /// How long the last bytes of connections, by which the host learns that they end, may take on their way.
    private static let endLimit = Duration.seconds(1)

    /// Runs a body with a tunnel. Its connections end with it.
    ///
    /// - Throws: ``CompanionClientError/Code/unreachable`` where no socket can be made; any error of `body`.
    package static func with<Result>(
        _ route: HostRoute,
        settings: Settings,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Tunnel) async throws -> Result
    ) async throws -> Result {
        let tunnel = Tunnel(route, path: try socketPath(in: settings.directory), settings: settings)
        defer { unlink(tunnel.path) }
        let server: NIOAsyncChannel<any Channel, Never>
        do {
            server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelOption(.autoRead, value: false)
                .bind(unixDomainSocketPath: tunnel.path) { $0.eventLoop.makeSucceededFuture($0) }
        } catch {
            throw CompanionClientError(
                .unreachable,
                message: "No tunnel can begin at \(tunnel.path).",
                delivery: .notSent,
                underlying: error
            )
        }
        // Not of the task that may be cancelled: a relay does not tell the host that a device is gone, TLS does.
        let serving = Task { try? await tunnel.serve(server) }
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(tunnel))
        } catch {
            result = .failure(error)
        }
        server.channel.close(promise: nil)
        let limit = Task {
            try await Task.sleep(for: endLimit)
            serving.cancel()
        }
        await serving.value
        limit.cancel()
        return try result.get()
    }

    /// A path that no other tunnel has.
    private static func socketPath(in directory: String) throws -> String {
        do {
            try PrivateFile.makeDirectory(directory)
        } catch {
            throw CompanionClientError(.unreachable, message: "\(error).", delivery: .notSent, underlying: error)
        }
        return "\(directory)/t\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }

    static func pipe(over channel: any Channel) throws -> Pipe {
        try Pipe(
            wrappingChannelSynchronously: channel,
            configuration: NIOAsyncChannel.Configuration(isOutboundHalfClosureEnabled: true)
        )
    }

    private func serve(_ server: NIOAsyncChannel<any Channel, Never>) async throws {
        try await server.executeThenClose { accepted in
            try await withThrowingDiscardingTaskGroup { connections in
                for try await near in accepted {
                    connections.addTask { await self.carry(near) }
                }
            }
        }
    }

    private func carry(_ accepted: any Channel) async {
        // Made here, where it is sure to be used: one that is dropped would end the process.
        let near: Pipe
        do {
            near = try await accepted.eventLoop.submit { try Self.pipe(over: accepted) }.get()
        } catch {
            return accepted.close(promise: nil)
        }
        accepted.setOption(.autoRead, value: true).whenFailure { _ in accepted.close(promise: nil) }
        try? await near.executeThenClose { inbound, outbound in
            do {
                switch route {
                case .direct: throw CompanionClientError(.unreachable, message: "\(route) needs no tunnel.")
                case .ssh(let route):
                    try await SSHConnection(route: route, logger: settings.logger).run { far in
                        try await self.copy(inbound, to: far, back: outbound)
                    }
                case .relay(let route):
                    try await self.copy(inbound, over: route, back: outbound)
                }
            } catch {
                // Before the near end closes: whoever notices that asks for the reason.
                guard !Task.isCancelled else { return }
                settings.logger.debug("a connection ended", metadata: ["route": "\(route)", "reason": "\(error)"])
                if let error = error as? CompanionClientError { lastFailure.withLockedValue { $0 = error } }
            }
        }
    }

    /// The far end has ended without a byte: it was never reached, and the reason follows.
    private struct NothingCame: Error {}

    /// Copies both ways until the client has closed the connection, or one way fails.
    private func copy(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        to far: Pipe,
        back outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        try await far.executeThenClose { farInbound, farOutbound in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    for try await bytes in inbound { try await farOutbound.write(bytes) }
                    farOutbound.finish()
                    return true
                }
                group.addTask {
                    var isEmpty = true
                    for try await bytes in farInbound {
                        if isEmpty { self.lastFailure.withLockedValue { $0 = nil } }
                        isEmpty = false
                        try await outbound.write(bytes)
                    }
                    guard !isEmpty else { throw NothingCame() }
                    outbound.finish()
                    return false
                }
                defer { group.cancelAll() }
                while let hasClientClosed = try await group.next(), !hasClientClosed {}
            }
        }
    }
}

// MARK: Relays

extension Tunnel {
    /// How long nothing may come through a pipe, beside twice the time that opening it took, before the host is called again.
    private static let patience = Duration.seconds(3)

    /// Copies both ways as ``copy(_:to:back:)``, and calls the host a second time where it does not come to the pipe.
    ///
    /// Strelaysrv loses a session whose sides come at the same moment: it refuses the second. Where that is the host, the
    /// device's end of the pipe stands, and nobody is told: the connection took all of its time limit, and failed.
    private func copy(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        over route: RelayRoute,
        back outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        let outlet = TunnelOutlet()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                for try await bytes in inbound { try await outlet.write(bytes) }
                await outlet.finish()
                return true
            }
            group.addTask {
                for isLast in [false, true] {
                    guard try await !self.answer(over: route, from: outlet, back: outbound, isLast: isLast) else {
                        outbound.finish()
                        return false
                    }
                    self.settings.logger.debug("the host did not come", metadata: ["route": "\(route)"])
                }
                throw NothingCame()
            }
            defer { group.cancelAll() }
            while let hasClientClosed = try await group.next(), !hasClientClosed {}
        }
    }

    /// Opens a pipe, and copies until it ends.
    ///
    /// - Parameter isLast: Whether the pipe stays open as long as nothing comes.
    /// - Returns: Whether anything has come.
    private func answer(
        over route: RelayRoute,
        from outlet: TunnelOutlet,
        back outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        isLast: Bool
    ) async throws -> Bool {
        let start = ContinuousClock.now
        return try await RelayConnection(route: route, settings: settings).run { far in
            let limit = Self.patience + (ContinuousClock.now - start) * 2
            let channel = far.channel
            let end =
                isLast
                ? nil : channel.eventLoop.scheduleTask(in: TimeAmount(limit)) { channel.close(promise: nil) }
            defer { end?.cancel() }
            return try await far.executeThenClose { farInbound, farOutbound in
                try await outlet.use(farOutbound, of: channel)
                var isEmpty = true
                for try await bytes in farInbound {
                    if isEmpty {
                        end?.cancel()
                        self.lastFailure.withLockedValue { $0 = nil }
                        await outlet.settle()
                    }
                    isEmpty = false
                    try await outbound.write(bytes)
                }
                return !isEmpty
            }
        }
    }
}

/// Where the bytes of a tunnel's client go. Until the host has answered they are kept, for the next pipe: clients of TLS send
/// no more than their greeting before that.
private actor TunnelOutlet {
    typealias Writer = NIOAsyncChannelOutboundWriter<ByteBuffer>

    private var writer: Writer?
    private var channel: (any Channel)?
    private var greeting = ByteBuffer()
    private var isSettled = false
    private var isFinished = false

    /// Sends what was kept, and then all that comes.
    func use(_ next: Writer, of channel: any Channel) async throws {
        (writer, self.channel) = (nil, channel)
        var sent = 0
        while sent < greeting.writerIndex, let rest = greeting.getSlice(at: sent, length: greeting.writerIndex - sent) {
            sent += rest.readableBytes
            try await next.write(rest)
        }
        writer = next
        if isFinished { next.finish() }
    }

    /// The host has answered: there is no other pipe.
    func settle() {
        (isSettled, greeting) = (true, ByteBuffer())
    }

    func write(_ bytes: ByteBuffer) async throws {
        guard !isSettled else {
            try await writer?.write(bytes)
            return
        }
        greeting.writeImmutableBuffer(bytes)
        // What a pipe does not take that is given up goes to the next one.
        try? await writer?.write(bytes)
    }

    /// The client has ended. Returns when all that it sent is on its way: the pipe ends then, and by the goodbye of TLS the
    /// host learns of it.
    func finish() async {
        isFinished = true
        _ = try? await channel?.writeAndFlush(ByteBuffer()).get()
        writer?.finish()
    }
}

extension Tunnel {
    /// The reason why no connection was carried, in place of an error that only says that it ended.
    func explained(_ error: CompanionClientError) -> CompanionClientError {
        guard [.unreachable, .timedOut].contains(error.code), error.delivery != .answered, var reason = failure else {
            return error
        }
        // A connection that was carried may have taken the request with it.
        reason.delivery = error.delivery
        return reason
    }
}

extension HostPlace {
    /// Runs a body with what to connect to. A tunnel ends with it.
    ///
    /// - Throws: ``CompanionClientError/Code/unreachable`` where no tunnel can begin; any error of `body`.
    package func withTarget<Result>(
        _ settings: Tunnel.Settings,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (ClientTarget) async throws -> Result
    ) async throws -> Result {
        switch self {
        case .address(let endpoint): try await body(.address(endpoint))
        case .route(.direct(let name)): try await body(.name(name))
        case .route(let route): try await Tunnel.with(route, settings: settings) { try await body(.tunnel($0)) }
        }
    }
}
