package import CompanionWire
import Glibc

/// Asks the network for the addresses of a machine by its mDNS name, such as `mac.local` (RFC 6762, section 3).
package enum HostNameQuery {
    /// How long to listen on after the first answer: a machine answers on each network and for each IP version.
    private static let rest = Duration.milliseconds(150)

    /// The addresses that the machine of a name gives for it, the most usable first: IPv4 before IPv6, and link-local
    /// addresses last. Any machine may answer, and lie: an address is a hint.
    ///
    /// Blocks until there is an answer, or for `limit`: not to be called on a cooperative thread.
    ///
    /// - Parameters:
    ///   - name: A name that ends in `.local`.
    ///   - interface: The one network interface to ask on. Default: nil, all of them.
    ///   - limit: How long to wait for the first answer. Default: 3 seconds.
    package static func addresses(
        of name: String,
        interface: String? = nil,
        limit: Duration = .seconds(3)
    ) -> [IPAddress] {
        let wanted = DNSName(name.parts(".").map { Array($0.utf8) }).folded
        guard let wire = wanted.wire else { return [] }
        // Two questions, A (1) and AAAA (28), of class IN.
        let packet: [UInt8] =
            [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0] + wire + [0, 1, 0, 1] + wire + [0, 28, 0, 1]
        let sockets = sockets(interface)
        for socket in sockets where !socket.listens { socket.socket.send(packet) }
        let start = ContinuousClock.now
        var found: [IPAddress] = []
        var firstAt: Duration?
        var isRepeated = false
        while !sockets.isEmpty {
            let passed = ContinuousClock.now - start
            guard passed < firstAt.map({ min(limit, $0 + rest) }) ?? limit else { break }
            if !isRepeated, passed > limit / 3, found.isEmpty {
                // One packet may be lost on the way.
                isRepeated = true
                for socket in sockets where !socket.listens { socket.socket.send(packet) }
            }
            var entries = sockets.map { pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, nfds_t(entries.count), 20) > 0 else { continue }
            for (socket, entry) in zip(sockets, entries) where entry.revents != 0 {
                found += answers(socket, for: wanted)
            }
            if !found.isEmpty, firstAt == nil { firstAt = ContinuousClock.now - start }
        }
        return Set(found).sorted { (rank($0), $0) < (rank($1), $1) }
    }

    private struct LinkedSocket {
        var socket: LinkSocket
        var zone: String
        var listens: Bool
    }

    /// For each interface and IP version, a socket that asks and one that hears what is multicast.
    private static func sockets(_ only: String?) -> [LinkedSocket] {
        NetworkInterface.all()
            .filter { $0.isUp && (only == nil ? $0.allowsMulticast || $0.isLoopback : $0.name.isSame(as: only ?? "")) }
            .flatMap { interface in
                // `lo` has no route for multicast of IPv6.
                (interface.isLoopback ? [false] : [false, true])
                    .filter { interface.hasAddress(isIPv6: $0) }
                    .flatMap { isIPv6 in
                        let link = ServiceInstance.Link(
                            index: Int32(bitPattern: interface.index),
                            transport: isIPv6 ? .ipv6 : .ipv4
                        )
                        return [false, true].compactMap { listens in
                            LinkSocket(link, listens: listens).map {
                                LinkedSocket(socket: $0, zone: interface.name, listens: listens)
                            }
                        }
                    }
            }
    }

    /// The addresses in the packets that have come.
    private static func answers(_ socket: LinkedSocket, for name: DNSName) -> [IPAddress] {
        var found: [IPAddress] = []
        // Reads a limited number of packets, so that a flood cannot keep the loop from ending.
        for _ in 0..<64 {
            guard let (packet, _) = socket.socket.receive(zone: socket.zone) else { break }
            guard let response = DNSResponse(packet) else { continue }
            found += response.addresses[name, default: []].compactMap { IPAddress(bytes: $0, zone: socket.zone) }
        }
        return found
    }

    private static func rank(_ address: IPAddress) -> Int {
        if !address.isIPv6 { return 0 }
        return address.scope == .linkLocal ? 2 : 1
    }
}
