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

@Suite struct BusMessageTests {
    /// The bytes of an answer `s` to the call with serial 2, as a bus sends it.
    private static let answer: [UInt8] =
        [0x6C, 2, 1, 1, 14, 0, 0, 0, 7, 0, 0, 0, 45, 0, 0, 0]
        // Reply serial 2, destination :1.5, signature s.
        + [5, 1, 0x75, 0, 2, 0, 0, 0]
        + [6, 1, 0x73, 0, 4, 0, 0, 0, 0x3A, 0x31, 0x2E, 0x35, 0, 0, 0, 0]
        + [8, 1, 0x67, 0, 1, 0x73, 0, 0]
        // Sender :1.2
        + [7, 1, 0x73, 0, 4, 0, 0, 0, 0x3A, 0x31, 0x2E, 0x32, 0]
        + [0, 0, 0]
        + [9, 0, 0, 0] + Array("avahi 0.8".utf8) + [0]

    @Test("An answer with a text is read, whole or not at all")
    func text() throws {
        let message = try BusMessage(parsing: Self.answer)
        #expect(message.kind == .answer && message.serial == 7 && message.replySerial == 2)
        #expect(message.value == .text("avahi 0.8"))
        #expect(try BusMessage.size(of: Self.answer) == Self.answer.count)
        for count in 0..<16 { #expect(try BusMessage.size(of: Self.answer.prefix(count)) == nil) }
        for count in 0..<Self.answer.count {
            #expect(throws: (any Error).self) { try BusMessage(parsing: Array(Self.answer.prefix(count))) }
        }
    }

    @Test("An error has a name, and a number is a value too")
    func errorAndNumber() throws {
        let name = Array("org.freedesktop.DBus.Error.ServiceUnknown".utf8)
        let fields: [UInt8] =
            [4, 1, 0x73, 0, UInt8(name.count), 0, 0, 0] + name + [0, 0, 0, 0, 0, 0, 0] + [5, 1, 0x75, 0, 3, 0, 0, 0]
        let error: [UInt8] = [0x6C, 3, 1, 1, 0, 0, 0, 0, 9, 0, 0, 0, UInt8(fields.count), 0, 0, 0] + fields
        let read = try BusMessage(parsing: error)
        #expect(read.kind == .error && read.replySerial == 3)
        #expect(read.errorName == "org.freedesktop.DBus.Error.ServiceUnknown")
        let number: [UInt8] =
            [0x6C, 2, 1, 1, 4, 0, 0, 0, 1, 0, 0, 0, 15, 0, 0, 0] + [
                5, 1, 0x75, 0, 4, 0, 0, 0, 8, 1, 0x67, 0, 1, 0x69, 0, 0,
            ]
            + [2, 0, 0, 0]
        #expect(try BusMessage(parsing: number).value == .number(2))
    }

    @Test("What is no message is refused, not waited for")
    func nonsense() {
        #expect(throws: (any Error).self) { try BusMessage.size(of: Array("HTTP/1.1 400 Bad".utf8)) }
        #expect(throws: (any Error).self) {
            try BusMessage.size(of: [0x6C, 2, 1, 1, 0xFF, 0xFF, 0xFF, 0x7F, 1, 0, 0, 0, 0, 0, 0, 0])
        }
    }

    @Test("A call is laid out as the specification says")
    func call() throws {
        let bytes = BusCall(member: "Ab", interface: "i.f", path: "/", destination: "d.e").bytes(serial: 3)
        #expect(try BusMessage.size(of: bytes) == bytes.count)
        let expected: [UInt8] =
            [0x6C, 1, 2, 1, 0, 0, 0, 0, 3, 0, 0, 0, 60, 0, 0, 0]
            + [1, 1, 0x6F, 0, 1, 0, 0, 0, 0x2F, 0, 0, 0, 0, 0, 0, 0]
            + [2, 1, 0x73, 0, 3, 0, 0, 0, 0x69, 0x2E, 0x66, 0, 0, 0, 0, 0]
            + [3, 1, 0x73, 0, 2, 0, 0, 0, 0x41, 0x62, 0, 0, 0, 0, 0, 0]
            + [6, 1, 0x73, 0, 3, 0, 0, 0, 0x64, 0x2E, 0x65, 0] + [0, 0, 0, 0]
        #expect(bytes == expected)
    }

    @Test(
        "The socket is taken out of a bus's address",
        arguments: [
            ("unix:path=/run/dbus/system_bus_socket", "/run/dbus/system_bus_socket"),
            ("tcp:host=localhost;unix:guid=ab,path=/tmp/bus", "/tmp/bus"), ("unix:abstract=/tmp/x", nil), ("", nil),
            ("unix:path=/tmp/a%20bus%2c1", "/tmp/a bus,1"), ("unix:path=/tmp/%2", nil),
        ]
    )
    func address(address: String, path: String?) {
        #expect(DaemonReport.socketPath(inAddress: address) == path)
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
