import Glibc

/// An IPv4 or IPv6 address, with the zone of a link-local one.
package struct IPAddress: Sendable, Hashable {
    /// Four or sixteen bytes, most significant first.
    package let bytes: [UInt8]
    /// The zone (interface name or index) of a link-local IPv6 address, as in `fe80::1%eth0`; else nil.
    package let zone: String?

    /// Makes an address from its bytes.
    ///
    /// - Returns: nil unless there are 4 or 16 bytes. A zone is kept for link-local IPv6 addresses only.
    package init?(bytes: [UInt8], zone: String? = nil) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
        let isLinkLocalV6 = bytes.count == 16 && bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80
        self.zone = isLinkLocalV6 && zone?.isEmpty == false ? zone : nil
    }

    /// Reads `192.168.1.5`, `fe80::1%eth0` or `[fe80::1%eth0]`. Returns nil for anything else, host names included.
    package init?(_ text: String) {
        var text = Substring(text)
        text = text.dropping(prefix: "[")?.dropping(suffix: "]") ?? text
        let parts = text.parts("%", maxSplits: 1, omittingEmpty: false)
        guard let literal = parts.first.map(String.init), !literal.isEmpty else { return nil }
        let zone = parts.count == 2 ? String(parts[1]) : nil
        if let zone,
            zone.isEmpty || zone.utf8.count > 32
                || !zone.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "._-@:".contains($0)) })
        {
            return nil
        }
        var v4 = [UInt8](repeating: 0, count: 4)
        var v6 = [UInt8](repeating: 0, count: 16)
        if zone == nil, inet_pton(AF_INET, literal, &v4) == 1 {
            self.init(bytes: v4)
        } else if inet_pton(AF_INET6, literal, &v6) == 1 {
            self.init(bytes: v6, zone: zone)
        } else {
            return nil
        }
    }

    /// `127.0.0.1`
    package static let loopback = IPAddress(v4: [127, 0, 0, 1])

    private init(v4 bytes: [UInt8]) {
        (self.bytes, zone) = (bytes, nil)
    }

    /// True for addresses of 16 bytes, false for those of 4.
    package var isIPv6: Bool { bytes.count == 16 }

    /// The IPv4 address inside an IPv4-mapped IPv6 address (`::ffff:a.b.c.d`), else the address itself.
    package var unmapped: IPAddress {
        guard isIPv6, bytes[0..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xff, bytes[11] == 0xff else { return self }
        return IPAddress(bytes: Array(bytes[12...])) ?? self
    }

    /// The part of the network that an address belongs to.
    package enum Scope: Sendable, Hashable {
        case loopback
        /// 169.254.0.0/16, fe80::/10.
        case linkLocal
        /// RFC 1918 and unique-local (fc00::/7, RFC 4193) networks.
        case privateNetwork
        /// 100.64.0.0/10 (RFC 6598), which VPN meshes use.
        case sharedAddressSpace
        case unspecified
        case multicast
        /// Everything else: the public Internet.
        case global
    }

    /// The scope of the address. An IPv4-mapped IPv6 address has the scope of its IPv4 address.
    package var scope: Scope {
        let address = unmapped.bytes
        if address.count == 4 {
            switch (address[0], address[1]) {
            case (127, _): return .loopback
            case (10, _), (192, 168), (172, 16...31): return .privateNetwork
            case (169, 254): return .linkLocal
            case (100, 64...127): return .sharedAddressSpace
            case (224...239, _): return .multicast
            case (0, _): return .unspecified
            default: return .global
            }
        }
        if address.dropLast().allSatisfy({ $0 == 0 }) {
            if address[15] == 1 { return .loopback }
            if address[15] == 0 { return .unspecified }
        }
        switch (address[0], address[1]) {
        case (0xfe, 0x80...0xbf): return .linkLocal
        case (0xfc...0xfd, _): return .privateNetwork
        case (0xff, _): return .multicast
        default: return .global
        }
    }

    /// Whether a companion may be spoken to there: on this machine, its links, private networks or a VPN mesh.
    package var isLocal: Bool {
        switch scope {
        case .loopback, .linkLocal, .privateNetwork, .sharedAddressSpace: true
        case .unspecified, .multicast, .global: false
        }
    }
}

extension IPAddress: CustomStringConvertible {
    /// The canonical text (RFC 5952), with `%zone` where there is one and without brackets.
    package var description: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes, &buffer, socklen_t(buffer.count)) != nil else { return "" }
        let end = buffer.firstIndex(of: 0) ?? buffer.count
        let text = String(decoding: buffer[..<end].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return zone.map { "\(text)%\($0)" } ?? text
    }
}

extension IPAddress: Comparable {
    /// IPv4 before IPv6, then by value: a stable order for display.
    package static func < (left: IPAddress, right: IPAddress) -> Bool {
        if left.bytes.count != right.bytes.count { return left.bytes.count < right.bytes.count }
        if left.bytes != right.bytes { return left.bytes.lexicographicallyPrecedes(right.bytes) }
        return (left.zone ?? "") < (right.zone ?? "")
    }
}

extension IPAddress: Codable {
    /// Reads the text of ``init(_:)``.
    ///
    /// - Throws: `DecodingError` for text that is no address.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let address = IPAddress(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an IP address")
        }
        self = address
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
