import CompanionWire
import Discovery
import Logging

extension ServiceInstance {
    static func fixture(
        _ name: String = "Studio",
        interface: Int32 = 1,
        _ transport: Transport = .ipv4,
        type: ServiceType = .companion
    ) -> ServiceInstance {
        ServiceInstance(interfaceIndex: interface, transport: transport, name: Array(name.utf8), type: type)
    }
}

extension ServiceResolution {
    static func fixture(
        _ endpoint: String = "192.168.1.5:7878",
        interface: String = "eth0",
        host: String = "studio.local",
        txt: String...
    ) -> ServiceResolution {
        ServiceResolution(
            endpoint: CompanionEndpoint(endpoint)!,
            interface: interface,
            hostName: host,
            txt: TXTRecord(strings: txt.map { Array($0.utf8) })
        )
    }
}

extension EngineCommand {
    /// What asks for the next tick.
    static var tick: Self { .wake(after: .milliseconds(250)) }
}

extension DiscoveryEvent {
    var added: DiscoveredHost? { if case .added(let host) = self { host } else { nil } }
    var changed: DiscoveredHost? { if case .changed(let host) = self { host } else { nil } }
    var removed: DiscoveredHost? { if case .removed(let host) = self { host } else { nil } }
}

/// A client of the embedded engine that stays on this machine's loopback interface.
func loopbackClient(interface: String = "lo") -> CompanionDiscoveryClient {
    CompanionDiscoveryClient(
        engine: .embedded,
        interface: interface,
        logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    )
}

/// A service type that no other test and nobody else on this machine uses.
func uniqueType() -> ServiceType {
    ServiceType("_pt-\(String(UInt64.random(in: 0 ... .max), radix: 16))x._tcp")!
}
