package import CompanionWire
internal import Glibc

/// A network interface of this machine, as far as finding hosts depends on it.
package struct NetworkInterface: Sendable, Hashable {
    /// The kind of network that an interface leads to.
    package enum Kind: Sendable, Hashable {
        case loopback
        /// A network card, wired or not.
        case network
        /// Containers or virtual machines on this machine.
        case container
        /// A VPN or another tunnel.
        case tunnel
    }

    /// The kernel's name, such as `eth0`.
    package var name: String
    /// Its number, as sockets want it.
    package var index: UInt32
    /// The flags of netdevice(7).
    package var flags: UInt32
    /// The addresses of the interface, in the system's order; link-local IPv6 ones with the interface as their zone.
    package var addresses: [IPAddress]

    init(name: String, index: UInt32, flags: UInt32, addresses: [IPAddress]) {
        self.name = name
        self.index = index
        self.flags = flags
        self.addresses = addresses
    }

    /// Whether the interface is switched on (`IFF_UP`), with a carrier or without.
    package var isUp: Bool { flags & 0x1 != 0 }
    /// True for `lo` and its like, whose packets never leave the machine.
    package var isLoopback: Bool { flags & 0x8 != 0 }
    var isPointToPoint: Bool { flags & 0x10 != 0 }
    /// Whether there is a carrier: a cable, or a Wi-Fi network.
    package var isRunning: Bool { flags & 0x40 != 0 }
    /// Whether the interface is marked for multicast (`IFF_MULTICAST`). `lo` is not, and yet passes it on over IPv4.
    package var allowsMulticast: Bool { flags & 0x1000 != 0 }

    func hasAddress(isIPv6: Bool) -> Bool {
        addresses.contains { $0.isIPv6 == isIPv6 }
    }

    /// The kind, guessed from the flags and the name.
    package var kind: Kind {
        if isLoopback { return .loopback }
        if Self.tunnels.contains(where: isNumbered) || isPointToPoint { return .tunnel }
        return Self.containers.contains(where: isNumbered) ? .container : .network
    }

    /// Names that begin so, and go on with what a program makes up: `docker0`, `br-1a2b3c`, `veth12ab`.
    private static let containers = [
        "docker", "br-", "veth", "virbr", "vnet", "cni", "flannel", "podman", "lxc", "lxd", "cali", "vmnet", "vboxnet",
    ]
    private static let tunnels = ["tun", "tap", "wg", "tailscale", "zt", "ppp", "utun", "nebula", "ipsec", "gre"]

    private func isNumbered(_ prefix: String) -> Bool {
        name.begins(with: prefix) && name.count > prefix.count || name == prefix
    }

    /// All interfaces, in the system's order; empty if the system does not tell.
    package static func all() -> [NetworkInterface] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [NetworkInterface] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            let name = String(cString: entry.ifa_name)
            if !found.contains(where: { $0.name == name }) {
                let index = if_nametoindex(name)
                found.append(NetworkInterface(name: name, index: index, flags: entry.ifa_flags, addresses: []))
            }
            guard let pointer = entry.ifa_addr, let address = IPAddress(UnsafeRawPointer(pointer), zone: name),
                let place = found.firstIndex(where: { $0.name == name })
            else { continue }
            found[place].addresses.append(address)
        }
        return found
    }
}

extension IPAddress {
    /// The address in a socket address of the system; nil for one of another family.
    ///
    /// - Parameters:
    ///   - pointer: A `sockaddr_in` or `sockaddr_in6`; of any other family, the two bytes of the family alone.
    ///   - zone: The interface; kept for link-local IPv6 addresses only.
    init?(_ pointer: UnsafeRawPointer, zone: String?) {
        switch Int32(pointer.loadUnaligned(as: UInt16.self)) {
        case AF_INET: self.init(bytes: [UInt8](UnsafeRawBufferPointer(start: pointer + 4, count: 4)))
        case AF_INET6: self.init(bytes: [UInt8](UnsafeRawBufferPointer(start: pointer + 8, count: 16)), zone: zone)
        default: return nil
        }
    }
}
