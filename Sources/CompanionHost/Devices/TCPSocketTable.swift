import CLinux
import CompanionWire
import Glibc

/// The TCP sockets of this machine, as `/proc/net/tcp` and `/proc/net/tcp6` list them (proc_pid_net(5)).
struct TCPSocketTable: Sendable {
    /// An end of a connection. IPv4 inside IPv6 counts as IPv4.
    struct Place: Sendable, Hashable {
        let address: IPAddress
        let port: UInt16

        init(address: IPAddress, port: UInt16) {
            // The tables name no zones.
            let address = address.unmapped
            self.address = IPAddress(bytes: address.bytes) ?? address
            self.port = port
        }
    }

    /// A socket.
    struct Row: Sendable, Hashable {
        var local: Place
        var remote: Place
        /// The user id of who opened it.
        var owner: UInt32
        /// 0 for a socket that no process has any more. Its owner is then shown as 0, too.
        var inode: UInt64
    }

    /// Both tables' lines.
    private let text: [UInt8]

    init(_ text: [UInt8]) {
        self.text = text
    }

    /// The sockets of the network that this process is in.
    ///
    /// - Returns: An empty table where it cannot be read. Blocks.
    static func current() -> TCPSocketTable {
        TCPSocketTable(contents(of: "/proc/net/tcp") + contents(of: "/proc/net/tcp6"))
    }

    /// The user who has the client's end of a connection, as the server sees it.
    ///
    /// - Returns: nil where no process has it, and where the owner is not certain.
    func owner(of client: Place, connectedTo server: Place) -> UInt32? {
        socket(of: client, connectedTo: server)?.owner
    }

    /// The client's end of a connection, as the server sees it.
    ///
    /// - Returns: nil where no process has it, and where it is not certain which one it is.
    func socket(of client: Place, connectedTo server: Place) -> Row? {
        let ends = rows(withPort: client.port).filter { $0.local == client && $0.remote == server && $0.inode != 0 }
        let sockets = Set(ends)
        return sockets.count == 1 ? sockets.first : nil
    }

    /// The sockets with a port at either end. A busy machine has tens of thousands of others, which are not parsed.
    private func rows(withPort port: UInt16) -> [Row] {
        let digits = String(port, radix: 16, uppercase: true)
        let mark = Array((":" + String(repeating: "0", count: 4 - digits.utf8.count) + digits + " ").utf8)
        let lineEnd = UInt8(ascii: "\n")
        return text.withUnsafeBytes { text in
            var (rows, start): ([Row], Int) = ([], 0)
            while let base = text.baseAddress, start < text.count,
                let hit = pairtool_find(base + start, text.count - start, mark, mark.count)
            {
                let place = base.distance(to: hit)
                let begin = text[..<place].lastIndex(of: lineEnd).map { $0 + 1 } ?? 0
                let end = text[place...].firstIndex(of: lineEnd) ?? text.count
                if let row = Row(text[begin..<end]) { rows.append(row) }
                start = end
            }
            return rows
        }
    }

    private static func contents(of path: String) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = read(file, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
        return bytes
    }
}

extension TCPSocketTable.Row {
    /// `0: 0100007F:1EC6 0100007F:8F2E 01 00000000:00000000 00:00000000 00000000 1000 0 12345 …`
    fileprivate init?(_ line: some Collection<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 10)
        guard fields.count >= 10, let local = Self.place(fields[1]), let remote = Self.place(fields[2]),
            let owner = UInt32(String(decoding: fields[7], as: UTF8.self)),
            let inode = UInt64(String(decoding: fields[9], as: UTF8.self))
        else { return nil }
        self.init(local: local, remote: remote, owner: owner, inode: inode)
    }

    /// An address as words of 32 bits in the machine's byte order, and a port: hexadecimal digits.
    private static func place(_ field: some Collection<UInt8>) -> TCPSocketTable.Place? {
        let parts = field.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, [8, 32].contains(parts[0].count),
            let port = UInt16(String(decoding: parts[1], as: UTF8.self), radix: 16)
        else { return nil }
        var bytes: [UInt8] = []
        var rest = parts[0]
        while !rest.isEmpty {
            guard let word = UInt32(String(decoding: rest.prefix(8), as: UTF8.self), radix: 16) else { return nil }
            withUnsafeBytes(of: word) { bytes += $0 }
            rest = rest.dropFirst(8)
        }
        return IPAddress(bytes: bytes).map { TCPSocketTable.Place(address: $0, port: port) }
    }
}
