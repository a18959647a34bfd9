import CompanionWire
import NIOCore

/// This machine's addresses.
enum LocalAddress {
    /// The first IPv4 address that other machines may reach this one at; nil where there is none.
    static func first() -> String? {
        let devices = (try? System.enumerateDevices()) ?? []
        return devices.lazy.compactMap { device in
            device.address?.ipAddress.flatMap { IPAddress($0) }
        }.first { !$0.isIPv6 && $0.scope != .loopback }?.description
    }
}
