import CompanionWire
import NIOCore
import Relay

/// A connection to a host that has joined a relay.
struct RelayConnection: Sendable {
    let route: RelayRoute
    let settings: Tunnel.Settings

    /// Runs a body with the connection.
    ///
    /// - Throws: ``CompanionClientError/Code/unreachable`` with what the relay said; any error of `body`.
    func run<Result>(_ body: (Tunnel.Pipe) async throws -> Result) async throws -> Result {
        let pipe: Tunnel.Pipe
        do {
            let identity = try settings.identityFile(forHost: route.host).identity()
            let client = RelayClient(address: route.relay, identity: identity, logger: settings.logger)
            pipe = try await client.call(route.host) { channel in
                channel.setOption(.allowRemoteHalfClosure, value: true)
                    .flatMapThrowing { try Tunnel.pipe(over: channel) }
                    .flatMap { pipe in channel.setOption(.autoRead, value: true).map { pipe } }
            }
        } catch let error as RelayError {
            throw CompanionClientError(.unreachable, message: error.message, delivery: .notSent, underlying: error)
        }
        return try await body(pipe)
    }
}
