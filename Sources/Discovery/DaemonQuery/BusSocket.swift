// `pairtool` compiles this file, too, as Embedded Swift, which has no module Glibc.
#if hasFeature(Embedded)
    import CProgram
#else
    internal import Glibc
#endif

/// What every connection to a message bus begins with (D-Bus specification, Authentication Protocol).
enum BusSocket {
    /// Where the system's bus usually is.
    static var systemPath: String { "/run/dbus/system_bus_socket" }
    static var busName: String { "org.freedesktop.DBus" }
    static var busPath: String { "/org/freedesktop/DBus" }

    /// The first bytes: this process is of this user (EXTERNAL), whose number's digits are told in hexadecimal.
    static var introduction: [UInt8] {
        let three = UInt8(ascii: "3")
        let end: [UInt8] = [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        return [0] + Array("AUTH EXTERNAL ".utf8) + "\(geteuid())".utf8.flatMap { [three, $0] } + end
    }
    /// What ends the authentication: messages follow.
    static var beginning: [UInt8] { Array("BEGIN\r\n".utf8) }

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
                connect_socket(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return status == 0 ? 0 : errno
    }
}

#if !hasFeature(Embedded)
    private func connect_socket(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
        connect(descriptor, address, size)
    }
#endif
