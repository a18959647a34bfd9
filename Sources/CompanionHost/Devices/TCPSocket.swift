import CLinux
import CompanionWire
import Glibc

/// A TCP socket of this machine, in the network that this process is in, as the kernel describes it (sock_diag(7)).
struct TCPSocket: Sendable, Hashable {
    /// An end of a connection. IPv4 inside IPv6 counts as IPv4.
    struct End: Sendable, Hashable {
        let address: IPAddress
        let port: UInt16

        init(address: IPAddress, port: UInt16) {
            self.address = address.unmapped
            self.port = port
        }
    }

    /// The user id of who opened it.
    let owner: UInt32
    /// Never 0: a socket that no process has any more is not found.
    let inode: UInt32

    /// Finds the client's end of a connection, as the server sees it. Blocks for some microseconds.
    ///
    /// - Returns: nil where no process has it, and where the kernel cannot tell (it has to be built with
    ///   `CONFIG_INET_DIAG`, which ss(8) needs, too).
    init?(of client: End, connectedTo server: End) {
        let found = Set(
            Self.interfaces(of: client, connectedTo: server).compactMap { interface in
                TCPSocket(of: client, connectedTo: server, on: interface)
            }
        )
        // Where several could be meant, nothing is known.
        guard let socket = found.first, found.count == 1 else { return nil }
        self = socket
    }

    /// The indexes of the interfaces that the client's socket may belong to; 0 stands for any.
    ///
    /// A socket with link-local addresses belongs to one interface. That is not the one of the zone that the server sees
    /// where two interfaces of this machine are on the same network: then the connection leaves by one and arrives by
    /// the other.
    private static func interfaces(of client: End, connectedTo server: End) -> [UInt32] {
        guard client.address.zone != nil || server.address.zone != nil else { return [0] }
        guard let names = if_nameindex() else { return [] }
        defer { if_freenameindex(names) }
        var indexes: [UInt32] = []
        var entry = names
        while entry.pointee.if_index != 0 {
            indexes.append(entry.pointee.if_index)
            entry += 1
        }
        return indexes
    }

    private init?(of client: End, connectedTo server: End, on interface: UInt32) {
        guard let answer = Self.answer(to: Self.question(about: client, connectedTo: server, on: interface)),
            // Where there is no such connection, the kernel shows who listens at the client's port.
            End(answer.id.idiag_src, port: answer.id.idiag_sport, family: answer.idiag_family)?.isSame(as: client)
                == true,
            End(answer.id.idiag_dst, port: answer.id.idiag_dport, family: answer.idiag_family)?.isSame(as: server)
                == true,
            answer.idiag_inode != 0
        else { return nil }
        (owner, inode) = (answer.idiag_uid, answer.idiag_inode)
    }

    private static func question(
        about client: End,
        connectedTo server: End,
        on interface: UInt32
    ) -> inet_diag_req_v2 {
        var question = inet_diag_req_v2()
        question.sdiag_family = UInt8(client.address.isIPv6 ? AF_INET6 : AF_INET)
        question.sdiag_protocol = UInt8(IPPROTO_TCP)
        question.idiag_states = .max
        question.id.idiag_sport = client.port.bigEndian
        question.id.idiag_dport = server.port.bigEndian
        withUnsafeMutableBytes(of: &question.id.idiag_src) { $0.copyBytes(from: client.address.bytes) }
        withUnsafeMutableBytes(of: &question.id.idiag_dst) { $0.copyBytes(from: server.address.bytes) }
        question.id.idiag_if = interface
        // INET_DIAG_NOCOOKIE: whichever socket it is.
        question.id.idiag_cookie = (.max, .max)
        return question
    }

    /// - Returns: nil where the kernel knows none, or does not answer.
    private static func answer(to question: inet_diag_req_v2) -> inet_diag_msg? {
        let netlink = socket(AF_NETLINK, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), NETLINK_SOCK_DIAG)
        guard netlink >= 0 else { return nil }
        defer { close(netlink) }
        var header = nlmsghdr()
        let headerSize = MemoryLayout<nlmsghdr>.size
        header.nlmsg_len = UInt32(headerSize + MemoryLayout<inet_diag_req_v2>.size)
        header.nlmsg_type = UInt16(SOCK_DIAG_BY_FAMILY)
        header.nlmsg_flags = UInt16(NLM_F_REQUEST)
        let message = withUnsafeBytes(of: header, Array.init) + withUnsafeBytes(of: question, Array.init)
        guard send(netlink, message, message.count, 0) == message.count else { return nil }
        var reply = [UInt8](repeating: 0, count: 4096)
        let size = recv(netlink, &reply, reply.count, 0)
        guard size >= headerSize + MemoryLayout<inet_diag_msg>.size else { return nil }
        return reply.withUnsafeBytes { reply in
            guard reply.loadUnaligned(as: nlmsghdr.self).nlmsg_type == UInt16(SOCK_DIAG_BY_FAMILY) else { return nil }
            return reply.loadUnaligned(fromByteOffset: headerSize, as: inet_diag_msg.self)
        }
    }
}

extension TCPSocket.End {
    /// - Parameter port: In the network's byte order.
    fileprivate init?(_ address: (UInt32, UInt32, UInt32, UInt32), port: UInt16, family: UInt8) {
        let bytes = withUnsafeBytes(of: address) { Array($0.prefix(family == UInt8(AF_INET6) ? 16 : 4)) }
        guard let address = IPAddress(bytes: bytes) else { return nil }
        self.init(address: address, port: UInt16(bigEndian: port))
    }

    /// Whether they are the same but for the zone, which the kernel does not name.
    fileprivate func isSame(as other: TCPSocket.End) -> Bool {
        address.bytes == other.address.bytes && port == other.port
    }
}
