import Glibc
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL

/// The host's sockets, for plain HTTP and for HTTPS: one for IPv4 and IPv6 of all interfaces, or one for each loopback
/// address.
struct HostListener<Responder: HTTPResponder>: Sendable where Responder.Context == HostRequestContext {
    /// Which of the two servers.
    private enum Kind: Sendable {
        case plain, secure
    }

    /// Connections at a time; further ones wait.
    private static var maximumConnections: Int { 2048 }
    /// After so long without a request a connection is closed.
    private static var idleTimeout: TimeAmount { .seconds(60) }

    let configuration: CompanionHostConfiguration
    let certificate: HostCertificate
    /// Answers plain HTTP.
    let plain: Responder
    /// Answers HTTPS.
    let secure: Responder
    /// Serves the live feed.
    let socket: LiveSocket
    let logger: Logger

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
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { plainPort.finish() }
                try await serve(.plain, port: configuration.port) { plainPort.yield($0) }
            }
            group.addTask {
                defer { securePort.finish() }
                // A port that was not chosen beside one that was: any free one.
                let port = configuration.tlsPort ?? (configuration.port == 0 ? 0 : configuration.port + 1)
                try await serve(.secure, port: port) { securePort.yield($0) }
            }
            if let port = await plainPorts.first(where: { _ in true }),
                let tlsPort = await securePorts.first(where: { _ in true })
            {
                let ports = HostPorts(plain: port, secure: tlsPort)
                listening(ports)
                group.addTask { await whileListening(ports) }
                if !configuration.lan {
                    group.addTask { await serveIPv6Loopback(.plain, port: port) }
                    group.addTask { await serveIPv6Loopback(.secure, port: tlsPort) }
                }
            }
            // The pairing service and the sockets end with the shutdown; one that fails ends the others.
            while try await group.next() != nil {}
        }
    }

    /// Serves a main socket.
    private func serve(_ kind: Kind, port: Int, listening: @escaping @Sendable (Int) -> Void) async throws {
        guard configuration.lan else {
            try await application(kind, host: "127.0.0.1", port: port, listening: listening)
            return
        }
        do {
            // IPv4 arrives there too, as mapped addresses.
            try await application(kind, host: "::", port: port, listening: listening)
        } catch let error as CompanionHostError where error.code == .cannotListen {
            logger.notice("no IPv6 here", metadata: ["reason": "\(error)"])
            try await application(kind, host: "0.0.0.0", port: port, listening: listening)
        }
    }

    private func serveIPv6Loopback(_ kind: Kind, port: Int) async {
        do {
            try await application(kind, host: "::1", port: port) { _ in }
        } catch {
            logger.notice("not listening on ::1", metadata: ["reason": "\(error)"])
        }
    }

    private func builder(_ kind: Kind) throws -> HTTPServerBuilder {
        let http = HTTP1Channel.Configuration(
            idleTimeout: Self.idleTimeout,
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 16 << 10,
                maxHeaderListSize: 32 << 10,
                maxHeaderFieldCount: 100
            )
        )
        return switch kind {
        case .plain: .http1(configuration: http)
        case .secure:
            try .tls(
                HTTPServerBuilder { responder in
                    LiveChannel(responder: responder, router: secure, socket: socket, configuration: http)
                },
                tlsConfiguration: certificate.serverConfiguration
            )
        }
    }

    private func application(
        _ kind: Kind,
        host: String,
        port: Int,
        listening: @escaping @Sendable (Int) -> Void
    ) async throws {
        // What the server's library calls errors are connections and listeners that were closed while it ended; what fails
        // is thrown.
        var quiet = logger
        quiet.logLevel = logger.logLevel <= .debug ? .notice : .critical
        let application = Application(
            responder: kind == .plain ? plain : secure,
            server: try builder(kind),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.maximumConnections, logger: quiet)
            ),
            onServerRunning: { channel in
                if let bound = channel.localAddress?.port { listening(bound) }
            },
            logger: quiet
        )
        do {
            try await application.run()
        } catch let error as IOError {
            if error.errnoCode == EADDRINUSE {
                throw CompanionHostError(
                    .portInUse,
                    "Port \(port) is taken. End what listens there, or choose another one (0 takes any free one)"
                        + (kind == .plain
                            ? "." : "; this one is for HTTPS: it was given, or is the port of HTTP plus 1."),
                    underlying: error
                )
            }
            throw CompanionHostError(.cannotListen, "\(host) port \(port) cannot be listened on.", underlying: error)
        }
    }
}
