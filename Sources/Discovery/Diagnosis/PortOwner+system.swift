import CompanionWire
internal import Glibc

extension PortOwner {
    /// Returns the other processes that have a UDP port of this machine open now. Processes of other users have no name
    /// unless root asks.
    package static func current(ofUDP port: Int) -> [PortOwner] {
        let entries = sockets(at: port)
        guard !entries.isEmpty else { return [] }
        let processes = processes(with: Set(entries.map(\.inode)))
        // This process uses mDNS, too, maybe at the same time. If one of its own sockets closes before the search for
        // its owner, the socket seems to belong to another program.
        let remaining = Set(sockets(at: port).map(\.inode))
        let others = entries.filter { processes[$0.inode]?.pid != getpid() && remaining.contains($0.inode) }
        return owners(of: port, in: others, processes: processes)
    }

    private static func sockets(at port: Int) -> [UDPSocketEntry] {
        ["/proc/net/udp", "/proc/net/udp6"].flatMap { UDPSocketEntry.parse(ProcessFile.text(of: $0)) }.filter {
            $0.port == port
        }
    }

    private static func processes(with inodes: Set<UInt64>) -> [UInt64: (program: String, pid: Int32)] {
        var found: [UInt64: (program: String, pid: Int32)] = [:]
        for name in names(in: "/proc") {
            guard let pid = Int32(name) else { continue }
            for descriptor in names(in: "/proc/\(pid)/fd") {
                let link = target(of: "/proc/\(pid)/fd/\(descriptor)")
                guard let digits = link.dropping(prefix: "socket:[")?.dropping(suffix: "]"), let inode = UInt64(digits),
                    inodes.contains(inode)
                else { continue }
                let program = ProcessFile.text(of: "/proc/\(pid)/comm").parts("\n").first.map(String.init) ?? "?"
                found[inode] = (program, pid)
            }
        }
        return found
    }

    private static func names(in directory: String) -> [String] {
        guard let handle = opendir(directory) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.begins(with: ".") { names.append(name) }
        }
        return names
    }

    private static func target(of link: String) -> String {
        var buffer = [CChar](repeating: 0, count: 64)
        let count = readlink(link, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : ""
    }
}

/// Whether a UDP port can be had beside those who have it.
package enum PortTrial {
    /// Opens the port on all addresses, sharing it as mDNS programs do (RFC 6762, section 15.1), and closes it at once.
    ///
    /// - Returns: Whether that worked. False where a process has the port for itself alone.
    package static func canShare(udp port: UInt16) -> Bool {
        [AF_INET, AF_INET6].allSatisfy { family in
            let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            // A machine without IPv6 has nobody there either.
            guard descriptor >= 0 else { return true }
            defer { close(descriptor) }
            var yes: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &yes, size)
            if family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, size) }
            var address = withUnsafeBytes(of: UInt16(family)) { [UInt8]($0) }
            address += withUnsafeBytes(of: port.bigEndian) { [UInt8]($0) }
            address += [UInt8](repeating: 0, count: (family == AF_INET6 ? 28 : 16) - address.count)
            let result = address.withUnsafeBytes { bytes in
                bind(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            }
            return result == 0 || errno != EADDRINUSE
        }
    }
}
