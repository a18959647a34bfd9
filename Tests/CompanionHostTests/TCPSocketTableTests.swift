import CompanionWire
import Testing

@testable import CompanionHost

@Suite("Who has the other end of a connection")
struct TCPSocketTableTests {
    /// As Linux 6.1 wrote it on a little-endian machine: a user's client, one that has closed its end, a client by
    /// IPv6 to an IPv4 address, and the ends of the server.
    private static let table = TCPSocketTable(
        Array(
            """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:1EC6 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 205973 4 0000 100 0 0
               1: 0100007F:CC5C 0100007F:1EDC 01 00000000:00000000 00:00000000 00000000     0        0 205977 2 0000 20 0 0 1
               2: 0100007F:E24A 0100007F:1EC6 01 00000000:00000000 00:00000000 00000000  1001        0 206958 2 0000 20 0 0 1
               3: 0100007F:E25E 0100007F:1EC6 05 00000000:00000000 03:00001770 00000000     0        0 0 3 0000
               4: 0100007F:1EC6 0100007F:E24A 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0000 20 0 0 10 -1
              sl  local_address                         remote_address                        st tx_queue rx_queue tr
               0: 00000000000000000000000000000000:1EDC 00000000000000000000000000000000:0000 0A 00000000:00000002 00:00000000 00000000     0        0 207001 1 0000
               1: 0000000000000000FFFF00000100007F:E250 0000000000000000FFFF00000100007F:1EC6 01 00000000:00000000 00:00000000 00000000  1002        0 207002 1 0000
               2: 0000000000000000FFFF00000100007F:1EDC 0000000000000000FFFF00000100007F:CC5C 01 00000000:00000000 00:00000000 00000000  1004        0 207003 1 0000
               3: 00000000000000000000000001000000:B838 00000000000000000000000001000000:1EDC 01 00000000:00000000 00:00000000 00000000  1003        0 207004 1 0000
            nonsense
               9: 0100007F:E999 0100007F:1EC6 01 short
            """.utf8
        )
    )

    private static func place(_ address: String, _ port: UInt16) throws -> TCPSocketTable.Place {
        TCPSocketTable.Place(address: try #require(IPAddress(address)), port: port)
    }

    @Test(
        "The client's own line counts, whichever family it is in",
        arguments: [
            ("127.0.0.1", 0xE24A, "127.0.0.1", 0x1EC6, 1001), ("127.0.0.1", 0xE250, "127.0.0.1", 0x1EC6, 1002),
            ("::ffff:127.0.0.1", 0xE24A, "::ffff:127.0.0.1", 0x1EC6, 1001), ("::1", 0xB838, "::1", 0x1EDC, 1003),
            ("127.0.0.1", 0xCC5C, "127.0.0.1", 0x1EDC, 0),
        ] as [(String, UInt16, String, UInt16, UInt32)]
    )
    func owners(client: String, port: UInt16, server: String, serverPort: UInt16, owner: UInt32) throws {
        let found = Self.table.owner(
            of: try Self.place(client, port),
            connectedTo: try Self.place(server, serverPort)
        )
        #expect(found == owner)
    }

    @Test(
        "Nobody has a connection that is not there, and one whose end was closed is nobody's, not root's",
        arguments: [
            ("127.0.0.1", 0xE25E, 0x1EC6), ("127.0.0.2", 0xE24A, 0x1EC6), ("127.0.0.1", 0xE24A, 0x1EC7),
            ("127.0.0.1", 0xE999, 0x1EC6), ("::1", 0xE24A, 0x1EC6),
        ] as [(String, UInt16, UInt16)]
    )
    func nobody(client: String, port: UInt16, serverPort: UInt16) throws {
        let found = Self.table.owner(
            of: try Self.place(client, port),
            connectedTo: try Self.place("127.0.0.1", serverPort)
        )
        #expect(found == nil)
    }

    @Test(
        "What is no table has no sockets",
        arguments: ["", "\n\n", ":E24A ", "0: 0100007F:E24A 0100007F:1EC6 ", "0: 0: 0: 0: 0: 0: 0: 0: 0: 0:"]
    )
    func nonsense(text: String) throws {
        let table = TCPSocketTable(Array(text.utf8))
        let (client, server) = (try Self.place("127.0.0.1", 0xE24A), try Self.place("127.0.0.1", 0x1EC6))
        #expect(table.owner(of: client, connectedTo: server) == nil)
    }
}
