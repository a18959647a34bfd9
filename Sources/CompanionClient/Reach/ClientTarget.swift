package import CompanionWire
import NIOCore
import NIOPosix

/// The target of a client's connections: an address, a name, or the local end of a tunnel.
package enum ClientTarget: Sendable, CustomStringConvertible {
    case address(CompanionEndpoint)
    /// A name of DNS with its port. All of its addresses are tried (RFC 8305).
    case name(URLAuthority)
    case tunnel(Tunnel)

    /// The target as messages name it: `192.168.1.5:7879`, `ssh://box`.
    package var description: String {
        switch self {
        case .address(let endpoint): "\(endpoint)"
        case .name(let name): "\(name)"
        case .tunnel(let tunnel): tunnel.route.place
        }
    }

    /// The rung, as far as the address or the route tells.
    var rung: HostRoute.Rung {
        switch self {
        case .address(let endpoint): endpoint.address.scope == .sharedAddressSpace ? .mesh : .direct
        case .name(let name): HostRoute.direct(name).rung
        case .tunnel(let tunnel): tunnel.route.rung
        }
    }

    /// The address; nil for a name and a tunnel.
    var endpoint: CompanionEndpoint? {
        if case .address(let endpoint) = self { endpoint } else { nil }
    }

    /// Whether both lead to the same place in the same way.
    func isSame(as other: ClientTarget) -> Bool {
        switch (self, other) {
        case (.address(let one), .address(let two)): one == two
        case (.name(let one), .name(let two)): one == two
        case (.tunnel(let one), .tunnel(let two)): one === two
        default: false
        }
    }

    /// `http://192.168.1.5:7878` or `https://[fe80::1]:7879`, without a zone; for a tunnel the path of its socket, as
    /// the HTTP library reads it.
    func origin(isSecure: Bool) -> String {
        switch self {
        case .address(let endpoint): "\(isSecure ? "https" : "http")://\(endpoint.authority)"
        case .name(let name): "https://\(name.host):\(name.securePort)"
        case .tunnel(let tunnel): "https+unix://\(percentEncoded(tunnel.path))"
        }
    }

    /// The value of the `Host` header. Hosts answer to their addresses and own names only, and know nothing of others.
    var authority: String {
        switch self {
        case .address(let endpoint): endpoint.authority
        case .name, .tunnel: "localhost"
        }
    }

    /// The names that the HTTP library connects to in place of the URL's host; see ``CompanionEndpoint/nameOverrides``.
    var nameOverrides: [String: String] { endpoint?.nameOverrides ?? [:] }

    /// - Throws: ``CompanionClientError/Code/refusedAddress`` for an address that is not one of a machine.
    func requireUsable() throws {
        try endpoint?.requireUsable()
    }

    /// The reason of a tunnel, in place of an error that only says that a connection through it ended.
    func explained(_ error: any Error) -> any Error {
        guard case .tunnel(let tunnel) = self, let error = error as? CompanionClientError else { return error }
        return tunnel.explained(error)
    }

    /// The limits of time where a connection takes longer to stand than on the same network.
    func allowing(_ timeouts: CompanionClientConfiguration.Timeouts) -> CompanionClientConfiguration.Timeouts {
        guard case .tunnel = self else { return timeouts }
        var timeouts = timeouts
        timeouts.connect = max(timeouts.connect, Tunnel.connectLimit)
        timeouts.request = max(timeouts.request, Tunnel.connectLimit)
        return timeouts
    }

    func connect(_ bootstrap: ClientBootstrap) -> EventLoopFuture<any Channel> {
        switch self {
        case .address(let endpoint): bootstrap.connect(host: endpoint.connectName, port: endpoint.port)
        case .name(let name): bootstrap.connect(host: name.connectName, port: name.securePort)
        case .tunnel(let tunnel): bootstrap.connect(unixDomainSocketPath: tunnel.path)
        }
    }

    func connect<Output: Sendable>(
        _ bootstrap: ClientBootstrap,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) async throws -> Output {
        switch self {
        case .address(let endpoint):
            try await bootstrap.connect(
                host: endpoint.connectName,
                port: endpoint.port,
                channelInitializer: initializer
            )
        case .name(let name):
            try await bootstrap.connect(
                host: name.connectName,
                port: name.securePort,
                channelInitializer: initializer
            )
        case .tunnel(let tunnel):
            try await bootstrap.connect(unixDomainSocketPath: tunnel.path, channelInitializer: initializer)
        }
    }
}

extension URLAuthority {
    /// The port, by default that of hosts' HTTPS.
    var securePort: Int { port ?? HostRoute.defaultPort }

    /// The name as the system's resolver reads it: an address without brackets.
    var connectName: String { host.dropping(prefix: "[")?.dropping(suffix: "]").map(String.init) ?? host }
}
