package import CompanionWire

/// One announcement of a service, as an engine reports it: an instance name on one interface over one IP version, or in
/// a DNS server.
package struct ServiceInstance: Hashable, Sendable {
    /// The IP version over which the announcement came.
    package enum Transport: Int32, Hashable, Sendable {
        case ipv4, ipv6
    }

    /// The kernel's index of the network interface; -1 where a DNS server told of it (RFC 6763, section 11).
    package var interfaceIndex: Int32
    /// Nil where a DNS server told of it.
    package var transport: Transport?
    /// The instance name's bytes as they were received: hosts may send what is not UTF-8.
    package var name: [UInt8]
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

    /// The link that the instance was announced on; nil where a DNS server told of it.
    var link: Link? { transport.map { Link(index: interfaceIndex, transport: $0) } }

    /// The instance name, repaired where it is not UTF-8.
    package var nameText: String { String(decoding: name, as: UTF8.self) }

    /// The family of the type. See ``DiscoveredHost/family``.
    package var family: HostFamily { type.family ?? .copilotforge }
}

extension ServiceInstance: Comparable {
    package static func < (left: ServiceInstance, right: ServiceInstance) -> Bool {
        if left.type != right.type { return left.type < right.type }
        if left.interfaceIndex != right.interfaceIndex { return left.interfaceIndex < right.interfaceIndex }
        if left.transport != right.transport { return left.transport == .ipv4 }
        if left.name != right.name { return left.name.lexicographicallyPrecedes(right.name) }
        return left.domain < right.domain
    }
}

/// What resolving a ``ServiceInstance`` gave.
package struct ServiceResolution: Hashable, Sendable {
    package var endpoint: CompanionEndpoint
    /// The name of the interface; empty where a DNS server told of it.
    package var interface: String
    /// The target of the SRV record.
    package var hostName: String
    package var txt: TXTRecord
    /// Whether the address is that of whoever sent the SRV record, because the record's target does not resolve.
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
