/// The address of a relay, with the id that it must have: `relay://relay.example:443/?id=PN3LRSE-…`.
package struct RelayAddress: Sendable, Hashable {
    /// The port where an address names none: Syncthing's for relays.
    package static let defaultPort = 22067
    /// Bytes of an address, with all that a relay's own log adds to it.
    package static let mostBytes = 2048

    /// The name of the machine in lower case, or its IP address without brackets.
    package let name: String
    /// 1…65535.
    package let port: Int
    /// The id that the relay's certificate must have; nil: any certificate is accepted.
    package let id: RelayID?

    /// Reads `relay://machine[:port]/?id=…`. The machine is a DNS name or an IP address, IPv6 in brackets. Without a
    /// port it is 22067. The slash and what follows may be left out.
    ///
    /// A relay prints its address with more items behind `?`: `pingInterval`, `networkTimeout`, `sessionLimitBps`,
    /// `globalLimitBps`, `statusAddr`, `providedBy`. They are dropped, and unknown ones too.
    ///
    /// - Returns: nil for anything else: another scheme or path, a user name, a fragment, an id that is none, a second
    ///   id, or a name over 253 bytes or with a part over 63.
    package init?(_ text: some StringProtocol) {
        // Neither a space nor a control character, nor one that turns the direction of text.
        guard text.utf8.count <= Self.mostBytes, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.has("#"),
            let rest = text.dropping(prefix: "relay://", ignoringCase: true)
        else { return nil }
        let end = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let path = rest[end...].dropping(prefix: "/") ?? rest[end...]
        guard let authority = URLAuthority(Substring(rest[..<end])), let name = Self.name(authority.host),
            path.isEmpty || path.begins(with: "?")
        else { return nil }
        var ids: [RelayID] = []
        for item in path.dropping(prefix: "?")?.parts("&") ?? [] {
            let pair = item.parts("=", maxSplits: 1, omittingEmpty: false)
            // Without its id, any relay would be accepted: an id in an odd spelling is refused, not dropped.
            guard !pair[0].has("%") else { return nil }
            guard pair[0].utf8.count == 2, pair[0].dropping(prefix: "id", ignoringCase: true) != nil else { continue }
            guard pair.count == 2, let id = RelayID(pair[1]), ids.isEmpty else { return nil }
            ids.append(id)
        }
        (self.name, port, id) = (name, authority.port ?? Self.defaultPort, ids.first)
    }

    /// - Parameters:
    ///   - name: A DNS name, or an IP address with or without brackets.
    ///   - port: Default: 22067.
    ///   - id: Default: nil, any certificate is accepted.
    /// - Returns: nil for a name or a port that cannot be one.
    package init?(name: String, port: Int = RelayAddress.defaultPort, id: RelayID? = nil) {
        guard let name = Self.name(name.lowercased()), (1...65535).contains(port) else { return nil }
        (self.name, self.port, self.id) = (name, port, id)
    }

    /// `relay.example:443` or `[2001:db8::1]:443`.
    package var authority: String {
        name.has(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
    }

    /// The same relay, with another id or without one.
    package func replacingID(with id: RelayID?) -> RelayAddress {
        RelayAddress(checkedName: name, port: port, id: id)
    }

    private init(checkedName name: String, port: Int, id: RelayID?) {
        (self.name, self.port, self.id) = (name, port, id)
    }

    /// The canonical form of a machine's name; nil if it cannot be one.
    private static func name(_ text: String) -> String? {
        if let address = IPAddress(text) {
            // A zone means something on one machine only, and addresses of relays are passed on to others.
            return address.zone == nil && !text.has("%") ? address.description : nil
        }
        guard text.isDNSName, !text.ends(with: "."), let last = text.parts(".").last, !isNumber(last) else {
            return nil
        }
        return text
    }

    /// Whether the system's resolver would read a text that ends so as an address of IPv4, such as `127.1` or
    /// `0x7f000001` (WHATWG URL, section 3.5).
    private static func isNumber(_ label: Substring) -> Bool {
        label.utf8.allSatisfy(\.isASCIIDigit)
            || label.dropping(prefix: "0x", ignoringCase: true)?.utf8.allSatisfy(isHexDigit) == true
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}

extension RelayAddress: CustomStringConvertible {
    /// The canonical text, always with the port.
    package var description: String {
        guard let id else { return "relay://\(authority)/" }
        return "relay://\(authority)/?id=\(id)"
    }
}

extension RelayAddress: Codable {
    /// Reads the text of ``init(_:)``.
    ///
    /// - Throws: `DecodingError` for text that is no address of a relay.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let address = RelayAddress(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the address of a relay")
        }
        self = address
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
