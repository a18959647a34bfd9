import CompanionWire

/// A line of `/proc/net/udp` or `/proc/net/udp6` (proc(5)).
package struct UDPSocketEntry: Sendable, Hashable {
    /// The local port.
    package var port: Int
    /// The number of the user whose process opened it.
    package var user: UInt32
    /// The number of the socket's inode, as in the links `socket:[INODE]` of `/proc/PID/fd`.
    package var inode: UInt64

    init(port: Int, user: UInt32, inode: UInt64) {
        self.port = port
        self.user = user
        self.inode = inode
    }

    /// Reads a table; other lines, such as the title, are skipped.
    package static func parse(_ table: String) -> [UDPSocketEntry] {
        table.parts("\n").compactMap { line in
            // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode …
            let fields = line.parts(" ")
            guard fields.count > 9, let colon = fields[1].utf8.lastIndex(of: UInt8(ascii: ":")),
                let port = Int(fields[1][fields[1].utf8.index(after: colon)...], radix: 16),
                let user = UInt32(fields[7]), let inode = UInt64(fields[9])
            else { return nil }
            return UDPSocketEntry(port: port, user: user, inode: inode)
        }
    }
}

/// A process that has a port open.
package struct PortOwner: Sendable, Hashable {
    /// The program's name; nil where only its user or root may know.
    package var program: String?
    /// The number of the process; nil where only its user or root may know.
    package var pid: Int32?
    /// The number of its user.
    package var user: UInt32

    package init(program: String?, pid: Int32?, user: UInt32) {
        self.program = program
        self.pid = pid
        self.user = user
    }

    /// Returns the owners of the sockets at a port, each process once.
    ///
    /// - Parameter processes: The processes that can be looked into, by the inodes of their sockets.
    package static func owners(
        of port: Int,
        in entries: [UDPSocketEntry],
        processes: [UInt64: (program: String, pid: Int32)]
    ) -> [PortOwner] {
        var owners: [PortOwner] = []
        for entry in entries where entry.port == port {
            let process = processes[entry.inode]
            let owner = PortOwner(program: process?.program, pid: process?.pid, user: entry.user)
            if !owners.contains(owner) { owners.append(owner) }
        }
        return owners
    }
}
