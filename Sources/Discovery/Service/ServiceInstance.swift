package import CompanionWire

/// One announcement of a service, as an engine reports it: an instance name on one interface over one IP version, or in
/// a DNS server.
package struct ServiceInstance: Hashable, Sendable {
    /// The IP version over which the announcement came.
    package enum Transport: Int32, Hashable, Sendable {
        case ipv4, ipv6
    }

    /// The kernel's index of the network interface; -1 if the instance is from a DNS server (RFC 6763, section 11).
    package var interfaceIndex: Int32
    /// Nil if the instance is from a DNS server.
    package var transport: Transport?
    /// The instance name's bytes as they were received: hosts may send what is not UTF-8.
    package var name: [UInt8]
    /// The type that the instance is advertised under.
    package var type: ServiceType
    /// The DNS domain, as a rule `local`.
    package var domain: String

    package init(
        interfaceIndex: Int32,
        transport: Transport?,
        name: [UInt8],
        type: ServiceType,
        domain: String = "local"
    ) {
        self.interfaceIndex = interfaceIndex
        self.transport = transport
        self.name = name
        self.type = type
        self.domain = domain
    }

    /// A network of this machine: an interface over one IP version.
    struct Link: Hashable, Sendable {
        var index: Int32
        var transport: Transport
    }

    /// The link that the instance was announced on; nil if it is from a DNS server.
    var link: Link? { transport.map { Link(index: interfaceIndex, transport: $0) } }

    /// The instance name, repaired where it is not UTF-8.
    package var nameText: String { String(decoding: name, as: UTF8.self) }

    /// The family of the type. See ``DiscoveredHost/family``.
    package var family: HostFamily { type.family ?? .usual }
}

extension ServiceInstance: Comparable {
    /// Orders by type, interface, IP version, name and domain: a stable order.
    package static func < (left: ServiceInstance, right: ServiceInstance) -> Bool {
        if left.type != right.type { return left.type < right.type }
        if left.interfaceIndex != right.interfaceIndex { return left.interfaceIndex < right.interfaceIndex }
        if left.transport != right.transport { return left.transport == .ipv4 }
        if left.name != right.name { return left.name.lexicographicallyPrecedes(right.name) }
        return left.domain < right.domain
    }
}

/// The result of resolving a ``ServiceInstance``.
package struct ServiceResolution: Hashable, Sendable {
    /// The address (a link-local IPv6 one with its zone) and the port of the SRV record.
    package var endpoint: CompanionEndpoint
    /// The name of the interface; empty if the instance is from a DNS server.
    package var interface: String
    /// The target of the SRV record.
    package var hostName: String
    /// The TXT record, whose entries are untrusted text.
    package var txt: TXTRecord
    /// Whether the address is the sender's of the SRV record, because the record's target does not resolve.
    package var isSenderAddress: Bool

    package init(
        endpoint: CompanionEndpoint,
        interface: String,
        hostName: String,
        txt: TXTRecord,
        isSenderAddress: Bool = false
    ) {
        self.endpoint = endpoint
        self.interface = interface
        self.hostName = hostName
        self.txt = txt
        self.isSenderAddress = isSenderAddress
    }
}

/// A flaw of an advert that can be seen in the advert alone. The raw values are stable.
package enum AdvertFlaw: String, Sendable, Hashable, CaseIterable {
    /// The SRV record says port 0: there is nothing to connect to (RFC 6763, section 6, calls that a placeholder).
    case portZero = "port-0"
    /// The SRV record, TXT record or address could not be had.
    case noAddress = "no-address"
    /// The SRV record's target does not resolve: the address is the one that the answer came from.
    case senderAddress = "address-from-sender"
    /// A name or value is not UTF-8; it is repaired with U+FFFD.
    case invalidUTF8 = "invalid-utf8"
    /// The TXT record has a key more than once; the first one counts (RFC 6763, section 6.4).
    case repeatedKeys = "repeated-keys"
    /// The TXT record has strings without a key, or with one that is not printable ASCII; they are ignored.
    case brokenKeys = "broken-keys"
}
