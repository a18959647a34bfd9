import CLinux
import Dispatch
import Glibc

/// Tells when addresses, interfaces or routes of this machine change: rtnetlink(7).
enum NetworkChanges {
    /// The groups of messages that are listened to (linux/rtnetlink.h).
    private static let groups =
        UInt32(RTMGRP_LINK) | UInt32(RTMGRP_IPV4_IFADDR) | UInt32(RTMGRP_IPV6_IFADDR) | UInt32(RTMGRP_IPV4_ROUTE)
        | UInt32(RTMGRP_IPV6_ROUTE)

    /// An element for one or more changes. Where the kernel does not tell, the stream is silent.
    static func stream() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let netlink = socket(
                AF_NETLINK,
                CInt(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
                NETLINK_ROUTE
            )
            guard netlink >= 0 else { return }
            var address = sockaddr_nl()
            address.nl_family = sa_family_t(AF_NETLINK)
            address.nl_groups = groups
            let isBound = withUnsafeBytes(of: &address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { address in
                    bind(netlink, address.baseAddress!, socklen_t(MemoryLayout<sockaddr_nl>.size)) == 0
                }
            }
            guard isBound else {
                close(netlink)
                return
            }
            // Safe because a source may be cancelled from any thread.
            nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: netlink, queue: .global())
            source.setEventHandler {
                // What changed does not matter: the messages are only taken off the socket.
                var bytes = [UInt8](repeating: 0, count: 16 << 10)
                while recv(netlink, &bytes, bytes.count, 0) > 0 {}
                continuation.yield()
            }
            source.setCancelHandler { close(netlink) }
            continuation.onTermination = { _ in source.cancel() }
            source.activate()
        }
    }
}
