import Glibc

extension EmbeddedEngine {
    /// Lets the sockets of the engine hold more packets: on a network of many hosts these answer at once, and what does
    /// not fit is lost. The system's limit (`net.core.rmem_max`) holds.
    ///
    /// Avahi does not hand out its sockets: they are those of this process on port 5353.
    static func widenReceiveBuffers() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        for descriptor in 3..<Int32(clamping: min(limit.rlim_cur, 1024)) where port(of: descriptor) == LinkSocket.port {
            var size = Int32(4 << 20)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// The local port of a UDP socket; nil for any other descriptor.
    private static func port(of descriptor: Int32) -> UInt16? {
        var kind: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) == 0, kind == Int32(SOCK_DGRAM.rawValue)
        else {
            return nil
        }
        var address = sockaddr_in6()
        length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = withUnsafeMutableBytes(of: &address) {
            getsockname(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        // The port is at the same place in both kinds of addresses; no other kind is as long.
        guard status == 0, length >= socklen_t(MemoryLayout<sockaddr_in>.size) else { return nil }
        return UInt16(bigEndian: address.sin6_port)
    }
}
