/// A value in a D-Bus message, of the types that services of the desktop use (D-Bus specification, Type System).
enum DBusValue: Sendable, Hashable {
    case string(String)
    case number(UInt32)
    case signed(Int32)
    case strings([String])
    case hints([String: Hint])

    /// What a value of `a{sv}` may be.
    enum Hint: Sendable, Hashable {
        case byte(UInt8)
        case flag(Bool)
        case string(String)
    }

    var signature: String {
        switch self {
        case .string: "s"
        case .number: "u"
        case .signed: "i"
        case .strings: "as"
        case .hints: "a{sv}"
        }
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: UInt32? { if case .number(let number) = self { number } else { nil } }
}

/// A message of D-Bus (D-Bus specification, Message Protocol), little endian.
struct DBusMessage: Sendable, Hashable {
    enum Kind: UInt8, Sendable {
        case call = 1
        case answer = 2
        case error = 3
        case signal = 4
    }

    /// The most bytes of a message that are taken. Default of the specification: 128 MiB; no service has so much to say
    /// here.
    static let limit = 1 << 20

    var kind: Kind
    var serial: UInt32 = 0
    /// The serial of the call that this answers.
    var replySerial: UInt32?
    var destination: String?
    var path: String?
    var interface: String?
    var member: String?
    /// Such as `org.freedesktop.DBus.Error.ServiceUnknown`.
    var errorName: String?
    /// The unique name of who sent it; the bus sees to it that it is right.
    var sender: String?
    /// What could be read of the body: it ends at the first value of another type.
    var body: [DBusValue] = []

    /// A call of a service's method.
    static func call(
        _ member: String,
        interface: String,
        path: String,
        destination: String,
        _ body: [DBusValue] = []
    ) -> DBusMessage {
        DBusMessage(
            kind: .call,
            destination: destination,
            path: path,
            interface: interface,
            member: member,
            body: body
        )
    }
}

/// Bytes that are no message, or not one that is understood.
struct DBusFormatError: Error {}
