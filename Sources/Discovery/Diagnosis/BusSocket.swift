internal import Glibc

/// What every connection to a message bus begins with (D-Bus specification, Authentication Protocol).
enum BusSocket {
    /// Where the system's bus usually is.
    static let systemPath = "/run/dbus/system_bus_socket"

    /// The first bytes: this process is of this user (EXTERNAL), whose number's digits are told in hexadecimal.
    static var introduction: [UInt8] {
        let three = UInt8(ascii: "3")
        let end: [UInt8] = [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        return [0] + Array("AUTH EXTERNAL ".utf8) + "\(geteuid())".utf8.flatMap { [three, $0] } + end
    }
    /// What ends the authentication: messages follow.
    static let beginning = Array("BEGIN\r\n".utf8)

    /// Connects a Unix socket.
    ///
    /// - Returns: 0, or what is wrong, as in `errno`.
    static func connect(_ descriptor: Int32, to path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isShort = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard isShort else { return ENAMETOOLONG }
        // That would be an abstract name, which is no path.
        guard !bytes.isEmpty else { return ENOENT }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return status == 0 ? 0 : errno
    }
}
