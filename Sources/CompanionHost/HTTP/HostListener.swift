import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import ServiceLifecycle

/// The host's sockets, for plain HTTP and for HTTPS: one for IPv4 and IPv6 of all interfaces, or one for each loopback
/// address.
struct HostListener: Sendable {
    /// Which of the two servers.
    private enum Kind: Sendable {
        case plain, secure
    }

    /// Connections that the system keeps until they are looked at: where many come at once, a client that is not among
    /// them would have to try again a second later.
    private static let backlog = 4096
    /// The time without a request after which a connection is closed.
    private static let idleTimeout = TimeAmount.seconds(60)

    /// TCP port of plain HTTP; 0 for any free one.
    let port: Int
    /// TCP port of HTTPS. nil: ``port`` + 1, or any free one where ``port`` is 0.
    let tlsPort: Int?
    /// Whether to listen on all interfaces.
    let lan: Bool
    let certificate: HostCertificate
    let router: CompanionCommandRouter
    /// Serves the live feed.
    let socket: LiveSocket
    /// Lets connections of all sockets in.
    let gate: ConnectionGate
    /// The relays, whose connections are served like those of the listener.
    let relays: HostRelays
    /// Whether somebody may pair now.
    let isPairing: @Sendable () async -> Bool
    let logger: Logger
    /// Serves a connection as the listener for HTTPS does; nil until that listens.
    private let serveSecure = NIOLockedValueBox<HostRelays.Serve?>(nil)

    /// Listens until shutdown.
    ///
    /// - Parameters:
    ///   - listening: Called with the ports of HTTP and HTTPS once both answer.
    ///   - whileListening: Runs from then on, and is cancelled when listening ends.
    /// - Throws: ``CompanionHostError``.
    func run(
        listening: @escaping @Sendable (HostPorts) -> Void,
        whileListening: @escaping @Sendable (HostPorts) async -> Void
    ) async throws {
        let (plainPorts, plainPort) = AsyncStream.makeStream(of: Int.self)
        let (securePorts, securePort) = AsyncStream.makeStream(of: Int.self)
        let servers = Servers()
        let failure = await withTaskGroup(of: Ending.self) { group in
            group.addTask {
                defer { plainPort.finish() }
                return await ending {
                    try await serve(.plain, port: port, by: servers) { plainPort.yield($0) }
                }
            }
            group.addTask {
                defer { securePort.finish() }
                // A port that was not chosen beside one that was: any free one.
                let tlsPort = tlsPort ?? (port == 0 ? 0 : port + 1)
                return await ending { try await serve(.secure, port: tlsPort, by: servers) { securePort.yield($0) } }
            }
            var listeners = 2
            if let port = await plainPorts.first(where: { _ in true }),
                let tlsPort = await securePorts.first(where: { _ in true })
            {
                let ports = HostPorts(plain: port, secure: tlsPort)
                listening(ports)
                group.addTask {
                    await gate.run()
                    return .follower
                }
                group.addTask {
                    await whileListening(ports)
                    return .follower
                }
                if let serve = serveSecure.withLockedValue(\.self) {
                    group.addTask {
                        await relays.run(isPairing: isPairing, serve: serve)
                        return .follower
                    }
                }
                if !lan {
                    for (kind, port) in [(Kind.plain, port), (.secure, tlsPort)] {
                        group.addTask {
                            await serveIPv6Loopback(kind, port: port, by: servers)
                            return .follower
                        }
                    }
                }
            }
            // The pairing service and the sockets end with the shutdown. One that fails ends the others as a shutdown
            // does: a server that is cancelled while it shuts down closes its socket twice.
            var failure: (any Error)?
            for await ending in group {
                guard case .listener(let error) = ending else { continue }
                listeners -= 1
                if failure == nil { failure = error }
                if error != nil { await servers.shutDown() }
                if listeners == 0 { group.cancelAll() }
            }
            return failure
        }
        if let failure { throw failure }
    }

    /// How a child of the listener ended.
    private enum Ending: Sendable {
        case listener((any Error)?)
        case follower
    }

    private func ending(_ body: () async throws -> Void) async -> Ending {
        do {
            try await body()
            return .listener(nil)
        } catch {
            return .listener(error)
        }
    }

    /// The servers that run, so that they can be ended together.
    private actor Servers {
        private var groups: [ServiceGroup] = []
        private var isShutDown = false

        /// - Returns: Whether the server may run.
        func add(_ group: ServiceGroup) -> Bool {
            if !isShutDown { groups.append(group) }
            return !isShutDown
        }

        func shutDown() async {
            isShutDown = true
            for group in groups { await group.triggerGracefulShutdown() }
        }
    }

    /// Serves a main socket.
    private func serve(
        _ kind: Kind,
        port: Int,
        by servers: Servers,
        listening: @escaping @Sendable (Int) -> Void
    ) async throws {
        guard lan else {
            try await application(kind, host: "127.0.0.1", port: port, by: servers, listening: listening)
            return
        }
        do {
            // IPv4 arrives there too, as mapped addresses.
            try await application(kind, host: "::", port: port, by: servers, listening: listening)
        } catch let error as CompanionHostError where error.code == .cannotListen {
            logger.notice("no IPv6 here", metadata: .failure(error, code: nil))
            try await application(kind, host: "0.0.0.0", port: port, by: servers, listening: listening)
        }
    }

    private func serveIPv6Loopback(_ kind: Kind, port: Int, by servers: Servers) async {
        do {
            try await application(kind, host: "::1", port: port, by: servers) { _ in }
        } catch {
            logger.notice("not listening on ::1", metadata: .failure(error, code: nil))
        }
    }

    private func builder(
        _ kind: Kind,
        router: some HTTPResponder<HostRequestContext>
    ) throws -> HTTPServerBuilder {
        let http = HTTP1Channel.Configuration(
            idleTimeout: Self.idleTimeout,
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 16 << 10,
                maxHeaderListSize: 32 << 10,
                maxHeaderFieldCount: 100
            )
        )
        switch kind {
        case .plain:
            return HTTPServerBuilder { responder in
                PlainChannel(responder: responder, gate: gate, configuration: http)
            }
        case .secure:
            let tls = try NIOSSLContext(configuration: certificate.serverConfiguration)
            return HTTPServerBuilder { responder in
                let live = LiveChannel(
                    responder: responder,
                    router: router,
                    socket: socket,
                    gate: gate,
                    tls: tls,
                    configuration: http
                )
                serveSecure.withLockedValue { box in
                    box = { channel in
                        live.setup(channel: channel, logger: logger).map { value in
                            { await live.handle(value: value, logger: logger) }
                        }
                    }
                }
                return live
            }
        }
    }

    private func application(
        _ kind: Kind,
        host: String,
        port: Int,
        by servers: Servers,
        listening: @escaping @Sendable (Int) -> Void
    ) async throws {
        // What the server's library calls errors are connections and listeners that were closed while it ended; what
        // fails is thrown.
        var quiet = logger
        quiet.logLevel = logger.logLevel <= .debug ? .notice : .critical
        let responder = router.router(isSecure: kind == .secure).buildResponder()
        let application = Application(
            responder: responder,
            server: try builder(kind, router: responder),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port), backlog: Self.backlog),
            onServerRunning: { channel in
                if let bound = channel.localAddress?.port { listening(bound) }
            },
            logger: quiet
        )
        do {
            let group = ServiceGroup(services: [application], logger: quiet)
            if await servers.add(group) { try await group.run() }
        } catch let error as IOError {
            if error.errnoCode == EADDRINUSE {
                throw CompanionHostError(
                    .portInUse,
                    "Port \(port) is taken."
                        + (kind == .plain ? "" : " It is the HTTPS port (--tls-port, or --port + 1)."),
                    remedy:
                        "end the program that uses it, or take any free ports: pairtool host --port 0 --tls-port 0",
                    underlying: error
                )
            }
            throw CompanionHostError(.cannotListen, "Cannot listen on \(host) port \(port).", underlying: error)
        } catch let error as SocketAddressError.UnknownHost {
            // The resolver does not even take an address of a family that the machine does not have.
            throw CompanionHostError(.cannotListen, "Cannot listen on \(host) port \(port).", underlying: error)
        }
    }
}
