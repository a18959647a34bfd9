package import CompanionWire
internal import Glibc

/// The addresses at which other machines may reach this one, as QR codes name them.
package enum ReachableAddresses {
    /// The addresses that this machine has now, the most likely one first.
    ///
    /// - Parameter only: The interface that the user named; nil for all but loopback.
    package static func now(only: String?) -> [IPAddress] {
        let interfaces = NetworkInterface.all()
        let bridges = interfaces.map(\.name).filter { access("/sys/class/net/\($0)/bridge", F_OK) == 0 }
        return ordered(interfaces, only: only, defaultRoutes: DefaultRoutes.current, bridges: Set(bridges))
    }

    /// Orders addresses: the interface of the default route comes first, then other networks, then tunnels, then
    /// bridges and networks of containers. A bridge with the default route is this machine's way to its network; a
    /// tunnel with it leads out of that network.
    ///
    /// - Parameters:
    ///   - defaultRoutes: The interfaces with a default route, the preferred one first.
    ///   - bridges: The interfaces that are bridges.
    static func ordered(
        _ interfaces: [NetworkInterface],
        only: String?,
        defaultRoutes: [String],
        bridges: Set<String>
    ) -> [IPAddress] {
        func rank(_ interface: NetworkInterface) -> Int {
            let count = defaultRoutes.count
            if interface.kind == .tunnel { return count + 1 }
            if let place = defaultRoutes.firstIndex(of: interface.name) { return place }
            return interface.kind == .container || bridges.contains(interface.name) ? count + 2 : count
        }
        return interfaces.filter { $0.isUp && $0.isRunning && (only ?? $0.name).isSame(as: $0.name) }
            .filter { only != nil || !$0.isLoopback }
            .sorted { rank($0) < rank($1) }
            .flatMap { $0.addresses.filter(isUsable).sorted { order($0) < order($1) } }
    }

    /// A companion connects to local addresses only, and the zone of a link-local IPv6 address means nothing to it.
    private static func isUsable(_ address: IPAddress) -> Bool {
        address.isLocal && !(address.isIPv6 && address.scope == .linkLocal)
    }

    /// Of one interface: IPv4, then IPv6, and last an address that the interface gave itself (RFC 3927).
    private static func order(_ address: IPAddress) -> Int {
        address.scope == .linkLocal ? 2 : address.isIPv6 ? 1 : 0
    }
}
