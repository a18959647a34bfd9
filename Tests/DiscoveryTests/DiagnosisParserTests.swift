import CompanionWire
import Testing

@testable import Discovery

@Suite struct UDPSocketTableTests {
    private static let ipv4 = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
         1123: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000   108        0 21453 2 0000000000000000 0
         1201: 0100007F:0143 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 19001 2 0000000000000000 0

        """
    private static let ipv6 = """
          sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
         1123: 00000000000000000000000000000000:14E9 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000   108        0 21454 2 0000000000000000 0
         1123: 00000000000000000000000000000000:14E9 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 30111 2 0000000000000000 0

        """

    @Test("Ports, users and inodes are read from both tables, and the titles are not")
    func entries() {
        #expect(
            UDPSocketEntry.parse(Self.ipv4) == [
                UDPSocketEntry(port: 5353, user: 108, inode: 21453), UDPSocketEntry(port: 323, user: 0, inode: 19001),
            ]
        )
        #expect(UDPSocketEntry.parse(Self.ipv6).map(\.inode) == [21454, 30111])
        #expect(UDPSocketEntry.parse("").isEmpty && UDPSocketEntry.parse("nonsense\n1 2 3").isEmpty)
    }

    @Test("A process with two sockets is one owner; one that cannot be looked into is known by its user")
    func owners() {
        let entries = UDPSocketEntry.parse(Self.ipv4) + UDPSocketEntry.parse(Self.ipv6)
        let owners = PortOwner.owners(
            of: 5353,
            in: entries,
            processes: [21453: ("avahi-daemon", 612), 21454: ("avahi-daemon", 612), 19001: ("chronyd", 500)]
        )
        #expect(
            owners == [
                PortOwner(program: "avahi-daemon", pid: 612, user: 108), PortOwner(program: nil, pid: nil, user: 1000),
            ]
        )
    }
}

@Suite struct NetworkInterfaceTests {
    @Test(
        "Interfaces of containers and tunnels are known by their names",
        arguments: [
            ("docker0", 0x1043, NetworkInterface.Kind.container), ("br-1a2b3c4d5e6f", 0x1043, .container),
            ("veth12ab", 0x1043, .container), ("virbr0", 0x1043, .container), ("tun0", 0x1051, .tunnel),
            ("wg0", 0x1091, .tunnel), ("tailscale0", 0x1051, .tunnel), ("ppp7", 0x51, .tunnel),
            ("eth0", 0x1043, .network), ("wlp3s0", 0x1043, .network), ("br0", 0x1043, .network),
            ("lo", 0x49, .loopback),
            ("company-vpn", 0x1051, .tunnel),
        ]
    )
    func kinds(name: String, flags: UInt32, kind: NetworkInterface.Kind) {
        #expect(NetworkInterface(name: name, index: 2, flags: flags, addresses: []).kind == kind)
    }

    @Test("This machine's loopback interface is found, with its address and number")
    func loopback() throws {
        let lo = try #require(NetworkInterface.all().first { $0.name == "lo" })
        #expect(lo.isLoopback && lo.isUp && lo.index > 0)
        #expect(lo.addresses.contains { $0.description == "127.0.0.1" })
    }
}

@Suite struct MulticastQueryTests {
    @Test("Neither this machine nor a sender without an address is another machine")
    func others() throws {
        let own: Set<[UInt8]> = [[127, 0, 0, 1], [10, 0, 0, 2]]
        for (text, isOther) in [
            ("0.0.0.0", false), ("::", false), ("127.0.0.1", false), ("10.0.0.2", false), ("10.0.0.3", true),
            ("fe80::1", true),
        ] {
            let address = try #require(IPAddress(text))
            #expect(MulticastTest.isOther(address, own: own) == isOther, "\(text)")
        }
    }

    @Test("The test's packet is a query with two questions, for a name that nobody has and for the types of the link")
    func packet() {
        let bytes = MulticastQuery(word: "x7").bytes
        #expect(Array(bytes[..<12]) == [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0])
        let first = [18] + Array("pairtool-doctor-x7".utf8) + [5] + Array("local".utf8) + [0, 0, 1, 0, 1]
        #expect(Array(bytes[12..<(12 + first.count)]) == first)
        #expect(bytes.suffix(5) == [0, 0, 12, 0, 1])
    }
}
