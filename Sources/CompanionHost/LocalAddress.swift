import CompanionWire
import Glibc

/// This machine's addresses.
enum LocalAddress {
    /// The first IPv4 address of an interface that is up and not loopback; nil where there is none.
    static func first() -> String? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        for item in sequence(first: list, next: { $0?.pointee.ifa_next }) {
            guard let item, item.pointee.ifa_flags & UInt32(IFF_UP) != 0,
                item.pointee.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
                let address = item.pointee.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET)
            else { continue }
            // struct sockaddr_in: family, port, address.
            let bytes = UnsafeRawBufferPointer(start: address, count: 8)[4..<8]
            if let found = IPAddress(bytes: Array(bytes)) { return found.description }
        }
        return nil
    }
}
