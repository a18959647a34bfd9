/// A call of a service on a message bus, without arguments (D-Bus specification, Message Protocol). The bus does not
/// start a service for it.
struct BusCall {
    var member: String
    var interface: String
    var path: String
    var destination: String

    /// A call of the bus itself, by which a connection gets its name: the first one.
    static let hello = BusCall(
        member: "Hello",
        interface: "org.freedesktop.DBus",
        path: "/org/freedesktop/DBus",
        destination: "org.freedesktop.DBus"
    )

    /// A call of the Avahi daemon.
    static func avahi(_ member: String) -> BusCall {
        BusCall(
            member: member,
            interface: "org.freedesktop.Avahi.Server",
            path: "/",
            destination: "org.freedesktop.Avahi"
        )
    }

    /// As it is sent, in little-endian byte order.
    ///
    /// - Parameter serial: The call's number on its connection, not 0.
    func bytes(serial: UInt32) -> [UInt8] {
        var fields: [UInt8] = []
        fields.append(field: 1, type: UInt8(ascii: "o"), path)
        fields.append(field: 2, type: UInt8(ascii: "s"), interface)
        fields.append(field: 3, type: UInt8(ascii: "s"), member)
        fields.append(field: 6, type: UInt8(ascii: "s"), destination)
        // A call (1), no automatic start (2), version 1; no body.
        var bytes: [UInt8] = [UInt8(ascii: "l"), 1, 2, 1]
        bytes.append(number: 0)
        bytes.append(number: serial)
        bytes.append(number: UInt32(fields.count))
        bytes += fields
        bytes.pad(to: 8)
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func pad(to size: Int) {
        while !count.isMultiple(of: size) { append(0) }
    }

    fileprivate mutating func append(field: UInt8, type: UInt8, _ text: String) {
        pad(to: 8)
        self += [field, 1, type, 0]
        append(number: UInt32(text.utf8.count))
        self += Array(text.utf8)
        append(0)
    }

    fileprivate mutating func append(number: UInt32) {
        pad(to: 4)
        for shift in 0..<4 { append(UInt8(truncatingIfNeeded: number >> (8 * UInt32(shift)))) }
    }
}
