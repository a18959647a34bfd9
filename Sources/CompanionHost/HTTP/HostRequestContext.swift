import CompanionWire
import HTTPTypes
import Hummingbird
import NIOCore

/// What the routes know of a request, besides the request.
struct HostRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection, which has to be cut when its device's access ends.
    let channel: any Channel
    /// Taken by the route of the live feed, where the connection can become a WebSocket.
    var ticket: LiveTicket?
    /// Who asks; nil when the connection is gone already.
    let peer: IPAddress?
    /// The body of a request with a JSON content type; nil for any other, which counts as `{}`.
    var json: ByteBuffer?
    /// Whether the request came by HTTPS.
    var isSecure = false
    /// The version of the protocol that the request speaks.
    var version = 1

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        peer = source.channel.remoteAddress.flatMap(IPAddress.init(peer:))
    }

    /// Whether the request comes from this machine's loopback interface.
    var isLoopback: Bool {
        peer?.scope == .loopback
    }

    /// A path parameter with its percent escapes resolved.
    ///
    /// - Throws: 400 when they do not make valid UTF-8, or make a NUL.
    func parameter(_ name: String) throws -> String {
        let raw = parameters.get(name) ?? ""
        // SQLite's texts end at a NUL: two ids must not become one.
        guard let text = raw.resolvingPercentEscapes(), !text.utf8.contains(0) else {
            throw HostResponseError(.badRequest, HostErrorText.malformedPath)
        }
        return text.trimmingWhitespace()
    }
}

extension IPAddress {
    /// The address of a peer. IPv4 inside IPv6 counts as IPv4, and `::1` as `127.0.0.1`: one machine, one address.
    init?(peer: SocketAddress) {
        guard let full = IPAddress(raw: peer) else { return nil }
        let isLoopback = full.isIPv6 && full.bytes.dropLast().allSatisfy { $0 == 0 } && full.bytes.last == 1
        self = isLoopback ? IPAddress(bytes: [127, 0, 0, 1]) ?? full : full.unmapped
    }

    /// The address as the socket has it.
    init?(raw address: SocketAddress) {
        let raw = address.withSockAddr { pointer, size in
            Array(UnsafeRawBufferPointer(start: pointer, count: size))
        }
        switch address {
        case .v4:
            // struct sockaddr_in: family, port, address.
            self.init(bytes: Array(raw[4..<8]))
        case .v6:
            // struct sockaddr_in6: family, port, flow, address, scope.
            let scope = raw[24..<28].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
            self.init(bytes: Array(raw[8..<24]), zone: scope == 0 ? nil : String(scope))
        case .unixDomainSocket:
            return nil
        }
    }
}

extension String {
    /// The text with `%41` and the like resolved; nil when an escape is malformed or the result is not UTF-8.
    func resolvingPercentEscapes() -> String? {
        guard utf8.contains(UInt8(ascii: "%")) else { return self }
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Self.hexValue), let low = rest.popFirst().flatMap(Self.hexValue)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
