package import CompanionWire
internal import Glibc

/// Whether multicast works on an interface: what the test hears of its own packet and of other machines.
package struct MulticastTest: Sendable, Hashable {
    /// The result for one interface and IP version.
    package enum Outcome: Sendable, Hashable {
        /// The own packet came back.
        case heard
        /// It was sent and did not come back.
        case silent
        /// There is no address to send from, such as one that is still being tried for doubles.
        case noAddress
        /// Another process has port 5353 for itself alone.
        case portTaken
        /// A system call failed, for this reason: joining the group, or sending.
        case failed(String)
    }

    /// The name of the interface, such as `eth0`.
    package var interface: String
    /// Whether IPv6 was tested; else IPv4.
    package var isIPv6: Bool
    /// The result of the test in this interface and address family.
    package var outcome: Outcome
    /// The other machines that were heard, whatever the outcome.
    package var others: Set<IPAddress>

    init(interface: String, isIPv6: Bool, outcome: Outcome, others: Set<IPAddress> = []) {
        self.interface = interface
        self.isIPv6 = isIPv6
        self.outcome = outcome
        self.others = others
    }

    /// Whether a sender is another machine.
    ///
    /// A machine without a route for multicast sends from no address at all, and so does this one on `lo`: it names
    /// nobody.
    ///
    /// - Parameter own: The addresses of this machine.
    static func isOther(_ address: IPAddress, own: Set<[UInt8]>) -> Bool {
        !own.contains(address.bytes) && address.bytes.contains { $0 != 0 }
    }

    /// Tests interfaces at once, over each address family that they have an address of.
    ///
    /// The sockets are bound to the group's address, so that no packet that is meant for another program comes here.
    /// Blocks for up to `limit`: not to be called on a cooperative thread.
    ///
    /// - Parameters:
    ///   - limit: How long to listen. It ends earlier once every test has heard itself and another machine.
    ///   - waitsForOthers: Whether to listen for other machines, to the limit if need be.
    package static func run(
        on interfaces: [NetworkInterface],
        limit: Duration,
        waitsForOthers: Bool
    ) -> [MulticastTest] {
        var own: Set<[UInt8]> = []
        for interface in NetworkInterface.all() { own.formUnion(interface.addresses.map(\.bytes)) }
        var runs: [Run] = []
        for interface in interfaces {
            // `lo` has no route for multicast of IPv6.
            for isIPv6 in interface.isLoopback ? [false] : [false, true] where interface.hasAddress(isIPv6: isIPv6) {
                runs.append(Run(interface, isIPv6: isIPv6, own: own))
            }
        }
        defer { for run in runs { run.close() } }
        let start = ContinuousClock.now
        for index in runs.indices { runs[index].send() }
        var isRepeated = false
        while true {
            let passed = ContinuousClock.now - start
            guard passed < limit, runs.contains(where: { !$0.isDone(waitsForOthers: waitsForOthers) }) else { break }
            if !isRepeated, passed > limit / 2 {
                // One packet may be lost on the way.
                isRepeated = true
                for index in runs.indices { runs[index].send() }
            }
            let wait = min(limit - passed, .milliseconds(50))
            var entries = runs.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, nfds_t(entries.count), Int32(wait / .milliseconds(1)) + 1) > 0 else { continue }
            for index in runs.indices where entries[index].revents != 0 { runs[index].receive() }
        }
        return runs.map(\.test)
    }
}

/// A test that runs.
private struct Run {
    var test: MulticastTest
    /// -1 where there is no socket: poll(2) passes it over.
    var descriptor: Int32 = -1
    private let query = MulticastQuery(word: String(UInt64.random(in: .min ... .max), radix: 36))
    private let own: Set<[UInt8]>
    private let destination: [UInt8]

    init(_ interface: NetworkInterface, isIPv6: Bool, own: Set<[UInt8]>) {
        test = MulticastTest(interface: interface.name, isIPv6: isIPv6, outcome: .silent)
        self.own = own
        destination = Self.group(isIPv6: isIPv6, interface: interface.index)
        open(on: interface.index)
    }

    func isDone(waitsForOthers: Bool) -> Bool {
        switch test.outcome {
        case .heard: !waitsForOthers || !test.others.isEmpty
        case .silent: false
        case .portTaken, .noAddress, .failed: true
        }
    }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// 224.0.0.251 or ff02::fb, port 5353 (RFC 6762, section 3), as the system's socket address.
    private static func group(isIPv6: Bool, interface: UInt32) -> [UInt8] {
        let port: [UInt8] = [UInt8(5353 >> 8), UInt8(5353 & 0xFF)]
        let family = withUnsafeBytes(of: UInt16(isIPv6 ? AF_INET6 : AF_INET)) { [UInt8]($0) }
        guard isIPv6 else { return family + port + [224, 0, 0, 251] + [UInt8](repeating: 0, count: 8) }
        let address: [UInt8] = [0xFF, 0x02] + [UInt8](repeating: 0, count: 13) + [0xFB]
        return family + port + [0, 0, 0, 0] + address + withUnsafeBytes(of: interface) { [UInt8]($0) }
    }

    private mutating func open(on interface: UInt32) {
        let family = test.isIPv6 ? AF_INET6 : AF_INET
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { return fail() }
        let index = withUnsafeBytes(of: interface) { [UInt8]($0) }
        var options: [(level: Int32, name: Int32, value: [UInt8])] = [
            (SOL_SOCKET, SO_REUSEADDR, Self.one), (SOL_SOCKET, SO_REUSEPORT, Self.one),
        ]
        let isBound: Bool
        if test.isIPv6 {
            let level = Int32(IPPROTO_IPV6)
            options += [
                (level, IPV6_V6ONLY, Self.one), (level, IPV6_MULTICAST_IF, index),
                (level, IPV6_MULTICAST_LOOP, Self.one),
                (level, IPV6_MULTICAST_HOPS, Self.number(255)),
            ]
            // struct ipv6_mreq: the group's address, the interface's number.
            isBound =
                set(options) && bindToGroup()
                && set([(level, IPV6_JOIN_GROUP, Array(destination[8..<24]) + index)])
        } else {
            let level = Int32(IPPROTO_IP)
            // struct ip_mreqn: the group's address, a local address (none), the interface's number.
            let membership = Array(destination[4..<8]) + [0, 0, 0, 0] + index
            options += [
                (level, IP_MULTICAST_IF, membership), (level, IP_MULTICAST_LOOP, Self.one),
                (level, IP_MULTICAST_TTL, Self.number(255)),
                // IP_MULTICAST_ALL: else it also gets what other sockets have joined on other interfaces.
                (level, 49, Self.number(0)),
            ]
            isBound = set(options) && bindToGroup() && set([(level, IP_ADD_MEMBERSHIP, membership)])
        }
        if !isBound { fail() }
    }

    private static let one = number(1)

    private static func number(_ value: Int32) -> [UInt8] {
        withUnsafeBytes(of: value) { [UInt8]($0) }
    }

    private func set(_ options: [(level: Int32, name: Int32, value: [UInt8])]) -> Bool {
        options.allSatisfy { setsockopt(descriptor, $0.level, $0.name, $0.value, socklen_t($0.value.count)) == 0 }
    }

    private func bindToGroup() -> Bool {
        destination.withUnsafeBytes { bytes in
            bind(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
        }
    }

    mutating func send() {
        guard descriptor >= 0 else { return }
        let count = destination.withUnsafeBytes { address in
            let address = UnsafeRawBufferPointer(address)
            return sendto(
                descriptor,
                query.bytes,
                query.bytes.count,
                0,
                address.baseAddress!.assumingMemoryBound(to: sockaddr.self),
                socklen_t(address.count)
            )
        }
        if count < 0, errno != EAGAIN { fail() }
    }

    mutating func receive() {
        var packet = [UInt8](repeating: 0, count: 9000)
        var source = [UInt8](repeating: 0, count: 28)
        while true {
            var size = socklen_t(source.count)
            let count = source.withUnsafeMutableBytes { source in
                recvfrom(
                    descriptor,
                    &packet,
                    packet.count,
                    0,
                    source.baseAddress!.assumingMemoryBound(to: sockaddr.self),
                    &size
                )
            }
            guard count >= 0 else { return }
            if packet[..<count].elementsEqual(query.bytes) {
                test.outcome = .heard
                continue
            }
            let address = source.withUnsafeBytes { IPAddress($0.baseAddress!, zone: test.interface) }
            if let address, MulticastTest.isOther(address, own: own) { test.others.insert(address) }
        }
    }

    private mutating func fail() {
        test.outcome =
            switch errno {
            case EADDRINUSE: .portTaken
            case EADDRNOTAVAIL, ENETUNREACH: .noAddress
            default: .failed(String(cString: strerror(errno)))
            }
        close()
        descriptor = -1
    }
}

/// The packet of a multicast self-test: an mDNS query (RFC 6762) for a name that nobody has, to hear it back, and for
/// the service types of the link (RFC 6763, section 9), to hear others.
struct MulticastQuery: Sendable, Hashable {
    let bytes: [UInt8]

    /// - Parameter word: Makes the packet differ from any other: 1 to 63 letters and digits.
    init(word: String) {
        // Identifier and flags 0, two questions, no records.
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
        Self.ask(&bytes, for: ["pairtool-doctor-\(word)", "local"], type: 1)
        Self.ask(&bytes, for: ["_services", "_dns-sd", "_udp", "local"], type: 12)
        self.bytes = bytes
    }

    private static func ask(_ bytes: inout [UInt8], for labels: [String], type: UInt8) {
        for label in labels {
            bytes.append(UInt8(label.utf8.count))
            bytes += label.utf8
        }
        // The end of the name, the type, class IN; answers go to the group.
        bytes += [0, 0, type, 0, 1]
    }
}
