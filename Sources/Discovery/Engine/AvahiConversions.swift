import CAvahi
import CompanionWire
import Glibc

extension IPAddress {
    /// - Parameter zone: The interface; kept for link-local IPv6 addresses only.
    init?(_ address: AvahiAddress, zone: String) {
        switch address.proto {
        case AvahiConstant.ipv4:
            // Network byte order is the order of the bytes in memory.
            let bytes = withUnsafeBytes(of: address.data.ipv4.address) { [UInt8]($0) }
            self.init(bytes: bytes)
        case AvahiConstant.ipv6:
            let bytes = withUnsafeBytes(of: address.data.ipv6.address) { [UInt8]($0) }
            self.init(bytes: bytes, zone: zone)
        default:
            return nil
        }
    }
}

extension TXTRecord {
    /// Copies Avahi's list, which may be empty (NULL).
    ///
    /// - Parameter isReversed: Whether the last string of the record comes first, as avahi-core lists them (it builds
    ///   its lists from the front). On the way through D-Bus the order is turned round once more.
    init(_ list: UnsafeMutablePointer<AvahiStringList>?, isReversed: Bool) {
        var strings: [[UInt8]] = []
        var item = list
        while let current = item {
            let text = UnsafeBufferPointer(start: avahi_string_list_get_text(current), count: current.pointee.size)
            strings.append([UInt8](text))
            item = avahi_string_list_get_next(current)
        }
        self.init(strings: isReversed ? strings.reversed() : strings)
    }
}

extension ServiceResolution {
    /// Copies the arguments of a resolver's callback. Returns nil if they have no address and port to connect to.
    init?(
        interface index: AvahiIfIndex,
        hostName: UnsafePointer<CChar>?,
        address: UnsafePointer<AvahiAddress>?,
        port: UInt16,
        txt: TXTRecord
    ) {
        let interface = interfaceName(index)
        guard port > 0, let hostName, let address, let address = IPAddress(address.pointee, zone: interface) else {
            return nil
        }
        self.init(
            endpoint: CompanionEndpoint(address: address, port: Int(port)),
            interface: interface,
            hostName: String(cString: hostName),
            txt: txt
        )
    }
}

extension ServiceInstance {
    /// Copies what a browser's callback was given.
    init?(
        interface: AvahiIfIndex,
        transport: AvahiProtocol,
        name: UnsafePointer<CChar>?,
        type: ServiceType,
        domain: UnsafePointer<CChar>?
    ) {
        guard let name, let domain else { return nil }
        self.init(
            interfaceIndex: interface,
            transport: Transport(transport),
            name: [UInt8](UnsafeRawBufferPointer(start: name, count: strlen(name))),
            type: type,
            domain: String(cString: domain)
        )
    }

    /// Lends the instance name as a C string, unrepaired.
    func withCName<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let characters = name.map { CChar(bitPattern: $0) } + [0]
        return characters.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}

/// The name of a network interface, or its number where it has just gone; empty for no particular one.
func interfaceName(_ index: AvahiIfIndex) -> String {
    guard index != AvahiConstant.anyInterface else { return "" }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
        if_indextoname(UInt32(bitPattern: index), buffer.baseAddress!).map { String(cString: $0) } ?? String(index)
    }
}

/// The index of a network interface of this machine.
func indexOfInterface(_ name: String) throws(DiscoveryError) -> AvahiIfIndex {
    let index = if_nametoindex(name)
    guard index > 0 else {
        throw DiscoveryError(.invalidInterface, message: "this machine has no network interface \(name)")
    }
    return AvahiIfIndex(index)
}

/// Lends TXT strings as Avahi's list, in their order.
func withStringList<Result>(
    _ pairs: [(String, String)],
    _ body: (UnsafeMutablePointer<AvahiStringList>?) -> Result
) -> Result {
    var list: UnsafeMutablePointer<AvahiStringList>?
    for (key, value) in pairs {
        let bytes = Array(value.utf8)
        list = avahi_string_list_add_pair_arbitrary(list, key, bytes, bytes.count)
    }
    defer { avahi_string_list_free(list) }
    return body(list)
}

/// The names that Avahi proposes after a collision.
enum AvahiAlternative {
    /// `Studio` gives `Studio #2`, that gives `Studio #3`; never over 63 bytes.
    static func serviceName(after name: String) -> String {
        taking(avahi_alternative_service_name(name)) ?? name
    }

    /// `studio` gives `studio-2`.
    static func hostName(after name: UnsafePointer<CChar>?) -> String? {
        name.flatMap { taking(avahi_alternative_host_name($0)) }
    }

    private static func taking(_ text: UnsafeMutablePointer<CChar>?) -> String? {
        defer { avahi_free(text) }
        return text.map { String(cString: $0) }
    }
}

extension ServiceInstance.Transport {
    /// nil for neither IPv4 nor IPv6, which Avahi reports for records from a DNS server.
    init?(_ value: AvahiProtocol) {
        switch value {
        case AvahiConstant.ipv4: self = .ipv4
        case AvahiConstant.ipv6: self = .ipv6
        default: return nil
        }
    }
}

extension ServiceInstance {
    /// The protocol over which Avahi looks for it.
    var avahiProtocol: AvahiProtocol {
        switch transport {
        case .ipv4: AvahiConstant.ipv4
        case .ipv6: AvahiConstant.ipv6
        case nil: AvahiConstant.anyProtocol
        }
    }
}
