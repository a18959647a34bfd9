import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The host's sockets: one for IPv4 and IPv6 of all interfaces, or one for each loopback address.
struct HostListener<Responder: HTTPResponder>: Sendable where Responder.Context == HostRequestContext {
    /// Connections at a time; further ones wait.
    private static var maximumConnections: Int { 2048 }
    /// After so long without a request a connection is closed.
    private static var idleTimeout: TimeAmount { .seconds(60) }

    let configuration: CompanionHostConfiguration
    let responder: Responder
    let logger: Logger

    /// Listens until shutdown.
    ///
    /// - Parameters:
    ///   - listening: Called with the port once.
    ///   - whileListening: Runs from then on, and is cancelled when listening ends.
    /// - Throws: ``CompanionHostError``.
    func run(
        listening: @escaping @Sendable (Int) -> Void,
        whileListening: @escaping @Sendable () async -> Void
    ) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { port.finish() }
                try await serve(port: configuration.port) { port.yield($0) }
            }
            for await bound in ports {
                listening(bound)
                group.addTask { await whileListening() }
                if !configuration.lan { group.addTask { await serveIPv6Loopback(port: bound) } }
                break
            }
            // The pairing service and the sockets end with the shutdown; one that fails ends the others.
            while try await group.next() != nil {}
        }
    }

    /// Serves the main socket.
    private func serve(port: Int, listening: @escaping @Sendable (Int) -> Void) async throws {
        guard configuration.lan else {
            try await application(host: "127.0.0.1", port: port, listening: listening)
            return
        }
        do {
            // IPv4 arrives there too, as mapped addresses.
            try await application(host: "::", port: port, listening: listening)
        } catch let error as CompanionHostError where error.code == .cannotListen {
            logger.notice("no IPv6 here", metadata: ["reason": "\(error)"])
            try await application(host: "0.0.0.0", port: port, listening: listening)
        }
    }

    private func serveIPv6Loopback(port: Int) async {
        do {
            try await application(host: "::1", port: port) { _ in }
        } catch {
            logger.notice("not listening on ::1", metadata: ["reason": "\(error)"])
        }
    }

    private func application(host: String, port: Int, listening: @escaping @Sendable (Int) -> Void) async throws {
        let http = HTTP1Channel.Configuration(
            idleTimeout: Self.idleTimeout,
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 16 << 10,
                maxHeaderListSize: 32 << 10,
                maxHeaderFieldCount: 100
            )
        )
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        let application = Application(
            responder: responder,
            server: .http1(configuration: http),
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
                    "Port \(port) is taken. End what listens there, or choose another one (0 takes any).",
                    underlying: error
                )
            }
            throw CompanionHostError(.cannotListen, "\(host) port \(port) cannot be listened on.", underlying: error)
        }
    }
}
