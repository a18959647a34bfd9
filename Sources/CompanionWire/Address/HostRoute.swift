/// A way to a host, as users write it and as its record has it. The bytes on each are those of the same TLS connection.
package enum HostRoute: Sendable, Hashable {
    /// TCP to a name or an address: `https://NAME[:PORT]`.
    case direct(URLAuthority)
    /// A connection that the user's `ssh` makes.
    case ssh(SSHRoute)
    /// A session on a relay.
    case relay(RelayRoute)

    /// The kinds of routes, in the order in which they are tried.
    package enum Rung: String, Codable, Sendable, CaseIterable {
        /// TCP in the same network.
        case direct
        /// TCP through a VPN.
        case mesh
        case ssh
        case relay
    }

    /// The port of HTTPS where a route names none.
    package static let defaultPort = CompanionEndpoint.defaultPort + 1

    /// Reads `https://NAME[:PORT]`, `NAME[:PORT]`, `ssh://…` or `relay://…`; nil for anything else.
    package init?(_ text: String) {
        if let rest = text.dropping(prefix: "ssh://", ignoringCase: true) {
            guard let route = SSHRoute(rest) else { return nil }
            self = .ssh(route)
        } else if text.dropping(prefix: "relay://", ignoringCase: true) != nil {
            guard let route = RelayRoute(text) else { return nil }
            self = .relay(route)
        } else {
            var rest = text.dropping(prefix: "https://", ignoringCase: true) ?? text[...]
            rest = rest.dropping(suffix: "/") ?? rest
            guard let authority = URLAuthority(bracketingAddress: rest) else { return nil }
            self = .direct(authority)
        }
    }

    /// Its rung, as far as the route itself tells: a name may be of a VPN too.
    package var rung: Rung {
        switch self {
        case .direct(let authority):
            IPAddress(authority.host)?.scope == .sharedAddressSpace || authority.host.ends(with: ".ts.net")
                ? .mesh : .direct
        case .ssh: .ssh
        case .relay: .relay
        }
    }

    /// Whether it ends at the host's own loopback or is carried by somebody, so that it has no address of the host.
    package var isTunnel: Bool {
        switch self {
        case .direct: false
        case .ssh, .relay: true
        }
    }
}

extension HostRoute: CustomStringConvertible {
    /// The text that ``init(_:)`` reads.
    package var description: String {
        switch self {
        case .direct(let authority): "https://\(authority)"
        case .ssh(let route): "\(route)"
        case .relay(let route): "\(route)"
        }
    }

    /// The host as messages name it when it is reached this way: without a key or ids.
    package var place: String {
        switch self {
        case .direct(let authority): "\(authority)"
        case .ssh(let route): "ssh://\(route.destination)"
        case .relay(let route): "relay://\(route.relay.authority)"
        }
    }
}

extension HostRoute: Codable {
    /// Reads the text of ``init(_:)``.
    ///
    /// - Throws: `DecodingError` for text that is no route.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let route = HostRoute(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a route")
        }
        self = route
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A machine that `ssh` reaches, and the port of the host there: `ssh://[USER@]MACHINE[:PORT][/PORT-OF-HOST]`.
package struct SSHRoute: Sendable, Hashable, CustomStringConvertible {
    /// Nil: as the user's configuration has it.
    package var user: String?
    /// A name of DNS or of the user's configuration, or an address; with the port where one is named.
    package var machine: URLAuthority
    /// The TCP port of the host's HTTPS on that machine, 1…65535.
    package var hostPort: Int

    /// - Parameter text: What follows `ssh://`.
    init?(_ text: Substring) {
        var rest = text.dropping(suffix: "/") ?? text
        hostPort = HostRoute.defaultPort
        if let (before, digits) = rest.cut(at: "/") {
            guard !digits.isEmpty, digits.utf8.allSatisfy(\.isASCIIDigit), let port = Int(digits),
                (1...65535).contains(port)
            else { return nil }
            (rest, hostPort) = (before, port)
        }
        if let (name, machine) = rest.cut(atLast: "@") {
            // What begins with a dash would be an option of ssh.
            guard !name.isEmpty, !name.begins(with: "-"), name.utf8.allSatisfy(Self.isOfUser) else { return nil }
            (user, rest) = (String(name), machine)
        }
        guard !rest.begins(with: "-"), let machine = URLAuthority(bracketingAddress: rest) else { return nil }
        self.machine = machine
    }

    private static func isOfUser(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || "-._+".utf8.contains(byte)
    }

    /// `user@machine:port`, as far as they are named.
    package var destination: String { (user.map { "\($0)@" } ?? "") + "\(machine)" }

    package var description: String {
        "ssh://\(destination)" + (hostPort == HostRoute.defaultPort ? "" : "/\(hostPort)")
    }
}

/// A host that has joined a relay: `relay://MACHINE[:PORT]/?id=…&host=…`.
package struct RelayRoute: Sendable, Hashable, CustomStringConvertible {
    package var relay: RelayAddress
    /// The id by which the relay knows the host.
    package var host: RelayID

    package init(relay: RelayAddress, host: RelayID) {
        (self.relay, self.host) = (relay, host)
    }

    package init?(_ text: String) {
        guard let relay = RelayAddress(text), let query = text.cut(at: "?")?.after,
            let item = query.parts("&").compactMap({ $0.dropping(prefix: "host=") }).first,
            let host = RelayID(String(item))
        else { return nil }
        self.init(relay: relay, host: host)
    }

    package var description: String {
        let address = "\(relay)"
        return address + (address.has("?") ? "&" : "?") + "host=\(host)"
    }
}

extension URLAuthority {
    /// Reads what users write too: an address of IPv6 without brackets, and a dot behind a name.
    package init?(bracketingAddress text: Substring) {
        let isBare = IPAddress(String(text))?.isIPv6 == true && !text.begins(with: "[")
        guard let authority = URLAuthority(isBare ? "[\(text)]" : text),
            authority.host.begins(with: "[") || authority.host.fitsDNS
        else { return nil }
        self = authority
    }
}
