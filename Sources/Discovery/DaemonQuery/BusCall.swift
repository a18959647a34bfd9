/// A call of a service on a message bus (D-Bus specification, Message Protocol). The bus does not start a service for
/// it.
struct BusCall {
    enum Argument {
        case text(String)
        case number(UInt32)
        case integer(Int32)

        fileprivate var type: UInt8 {
            switch self {
            case .text: UInt8(ascii: "s")
            case .number: UInt8(ascii: "u")
            case .integer: UInt8(ascii: "i")
            }
        }
    }

    var member: String
    var interface: String
    var path: String
    var destination: String
    var arguments: [Argument] = []

    /// A call of the bus itself, by which a connection gets its name: the first one.
    static var hello: BusCall {
        BusCall(
            member: "Hello",
            interface: BusSocket.busName,
            path: BusSocket.busPath,
            destination: BusSocket.busName
        )
    }

    /// A call of the Avahi daemon.
    static func avahi(_ member: String, _ arguments: [Argument] = []) -> BusCall {
        BusCall(
            member: member,
            interface: "org.freedesktop.Avahi.Server",
            path: "/",
            destination: "org.freedesktop.Avahi",
            arguments: arguments
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
        var body: [UInt8] = []
        if !arguments.isEmpty {
            fields.pad(to: 8)
            fields += [8, 1, UInt8(ascii: "g"), 0, UInt8(arguments.count)]
            for argument in arguments {
                fields.append(argument.type)
                body.append(argument)
            }
            fields.append(0)
        }
        // A call (1), no automatic start (2), version 1.
        var bytes: [UInt8] = [UInt8(ascii: "l"), 1, 2, 1]
        bytes.append(number: UInt32(body.count))
        bytes.append(number: serial)
        bytes.append(number: UInt32(fields.count))
        bytes += fields
        bytes.pad(to: 8)
        return bytes + body
    }
}

extension [UInt8] {
    fileprivate mutating func pad(to size: Int) {
        while !count.isMultiple(of: size) { append(0) }
    }

    fileprivate mutating func append(field: UInt8, type: UInt8, _ text: String) {
        pad(to: 8)
        self += [field, 1, type, 0]
        append(text: text)
    }

    fileprivate mutating func append(_ argument: BusCall.Argument) {
        switch argument {
        case .text(let text): append(text: text)
        case .number(let number): append(number: number)
        case .integer(let integer): append(number: UInt32(bitPattern: integer))
        }
    }

    fileprivate mutating func append(text: String) {
        append(number: UInt32(text.utf8.count))
        self += Array(text.utf8)
        append(0)
    }

    fileprivate mutating func append(number: UInt32) {
        pad(to: 4)
        for shift in 0..<4 { append(UInt8(truncatingIfNeeded: number >> (8 * UInt32(shift)))) }
    }
}
