import CompanionWire
import Glibc

/// A UDP socket for mDNS on one network interface over one IP version. It never blocks.
final class LinkSocket {
    static let port: UInt16 = 5353
    // RFC 6762, section 3.
    private static let groupV4: [UInt8] = [224, 0, 0, 251]
    private static let groupV6: [UInt8] = [0xff, 0x02] + [UInt8](repeating: 0, count: 13) + [0xfb]

    let descriptor: Int32
    private let link: ServiceInstance.Link

    /// - Parameter listens: Whether to receive multicast packets to port 5353, together with other programs. The socket
    ///   is bound to the group's address, so that it takes no unicast packets from them. If false, it has its own port,
    ///   and sends.
    /// - Returns: nil if the network refuses that.
    init?(_ link: ServiceInstance.Link, listens: Bool) {
        self.link = link
        let family = link.transport == .ipv4 ? AF_INET : AF_INET6
        descriptor = Glibc.socket(
            family,
            Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue),
            0
        )
        // deinit closes the socket on failure, too.
        guard descriptor >= 0, listens ? listen() : prepareToSend() else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Multicasts a packet. What the network refuses is lost, as on the way.
    func send(_ packet: [UInt8]) {
        withAddress { address, length in
            _ = sendto(descriptor, packet, packet.count, 0, address, length)
        }
    }

    /// The next packet and who sent it; nil if there is none.
    func receive(zone: String) -> (packet: [UInt8], sender: IPAddress)? {
        var buffer = [UInt8](repeating: 0, count: 9000)
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let (count, sender) = withUnsafeMutableBytes(of: &address) { address in
            let place = address.baseAddress
            let pointer = place?.assumingMemoryBound(to: sockaddr.self)
            let count = recvfrom(descriptor, &buffer, buffer.count, 0, pointer, &length)
            return (count, place.flatMap { IPAddress($0, zone: zone) })
        }
        guard count >= 0, let sender else { return nil }
        return (Array(buffer[..<count]), sender)
    }

    private func prepareToSend() -> Bool {
        switch link.transport {
        case .ipv4:
            set(Int32(IPPROTO_IP), option: IP_MULTICAST_IF, to: membershipV4)
                && set(Int32(IPPROTO_IP), option: IP_MULTICAST_TTL, to: Int32(255))
        case .ipv6:
            set(Int32(IPPROTO_IPV6), option: IPV6_MULTICAST_IF, to: link.index)
                && set(Int32(IPPROTO_IPV6), option: IPV6_MULTICAST_HOPS, to: Int32(255))
        }
    }

    private func listen() -> Bool {
        // Many hosts answer at once. The system may allow less.
        _ = set(SOL_SOCKET, option: SO_RCVBUF, to: Int32(4 << 20))
        guard set(SOL_SOCKET, option: SO_REUSEADDR, to: Int32(1)), set(SOL_SOCKET, option: SO_REUSEPORT, to: Int32(1))
        else { return false }
        let bound = withAddress { bind(descriptor, $0, $1) == 0 }
        guard bound else { return false }
        // Only from this interface, whatever other sockets of the machine have joined.
        switch link.transport {
        case .ipv4:
            return set(Int32(IPPROTO_IP), option: IP_MULTICAST_ALL, to: Int32(0))
                && set(Int32(IPPROTO_IP), option: IP_ADD_MEMBERSHIP, to: membershipV4)
        case .ipv6:
            var membership = ipv6_mreq()
            withUnsafeMutableBytes(of: &membership.ipv6mr_multiaddr) { $0.copyBytes(from: Self.groupV6) }
            membership.ipv6mr_interface = UInt32(bitPattern: link.index)
            return set(Int32(IPPROTO_IPV6), option: IPV6_ADD_MEMBERSHIP, to: membership)
        }
    }

    private var membershipV4: ip_mreqn {
        var membership = ip_mreqn()
        withUnsafeMutableBytes(of: &membership.imr_multiaddr) { $0.copyBytes(from: Self.groupV4) }
        membership.imr_ifindex = link.index
        return membership
    }

    private func set<Value>(_ level: Int32, option: Int32, to value: Value) -> Bool {
        withUnsafeBytes(of: value) {
            setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count)) == 0
        }
    }

    /// Lends the group's address and port.
    private func withAddress<Result>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result) -> Result {
        func lend<Address>(_ address: Address) -> Result {
            withUnsafeBytes(of: address) {
                body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
            }
        }
        switch link.transport {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = Self.port.bigEndian
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: Self.groupV4) }
            return lend(address)
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = Self.port.bigEndian
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: Self.groupV6) }
            address.sin6_scope_id = UInt32(bitPattern: link.index)
            return lend(address)
        }
    }
}
