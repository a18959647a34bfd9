/// A D-Bus message that was received (D-Bus specification, Message Protocol), as much of it as a service's answer of a
/// word or number needs.
struct BusMessage: Sendable, Hashable {
    enum Kind: UInt8, Sendable {
        case call = 1
        case answer = 2
        case error = 3
        case signal = 4
    }

    /// The first value of a body, where it is of a kind that is wanted here.
    enum Value: Sendable, Hashable {
        case text(String)
        case number(UInt32)
    }

    var kind: Kind
    var serial: UInt32
    /// The serial of the call that this answers.
    var replySerial: UInt32?
    /// Such as `org.freedesktop.DBus.Error.ServiceUnknown`.
    var errorName: String?
    var value: Value?

    /// The size of the message that begins the bytes; nil while too little of it is there.
    ///
    /// - Throws: ``BusMessageError`` where that is no message, or one of more than 64 KiB.
    static func size(of bytes: some Collection<UInt8>) throws(BusMessageError) -> Int? {
        var reader = Reader(Array(bytes.prefix(16)))
        guard reader.bytes.count == 16 else { return nil }
        guard reader.bytes[0] == UInt8(ascii: "l"), reader.bytes[3] == 1 else { throw BusMessageError() }
        reader.position = 4
        let body = try Int(reader.number())
        reader.position = 12
        let fields = try Int(reader.number())
        guard body <= 64 << 10, fields <= 64 << 10 else { throw BusMessageError() }
        return (16 + fields + 7) / 8 * 8 + body
    }

    /// Reads a whole message of little-endian byte order.
    init(parsing bytes: [UInt8]) throws(BusMessageError) {
        guard let size = try Self.size(of: bytes), size <= bytes.count, let kind = Kind(rawValue: bytes[1]) else {
            throw BusMessageError()
        }
        self.kind = kind
        var reader = Reader(bytes)
        reader.position = 8
        serial = try reader.number()
        let end = try 16 + Int(reader.number())
        var signature = ""
        while reader.position < end {
            reader.align(to: 8)
            let code = try reader.byte()
            switch (code, try reader.signature()) {
            case (5, "u"): replySerial = try reader.number()
            case (4, "s"): errorName = try reader.text()
            case (8, "g"): signature = try reader.signature()
            case (_, "s"), (_, "o"): _ = try reader.text()
            case (_, "g"): _ = try reader.signature()
            case (_, "u"): _ = try reader.number()
            default: throw BusMessageError()
            }
        }
        reader.align(to: 8)
        switch signature.first {
        case "s", "o": value = .text(try reader.text())
        case "i", "u": value = .number(try reader.number())
        default: break
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func align(to size: Int) {
            position = (position + size - 1) / size * size
        }

        mutating func byte() throws(BusMessageError) -> UInt8 {
            guard position < bytes.count else { throw BusMessageError() }
            defer { position += 1 }
            return bytes[position]
        }

        mutating func number() throws(BusMessageError) -> UInt32 {
            align(to: 4)
            var value: UInt32 = 0
            for shift in 0..<4 { value |= UInt32(try byte()) << (8 * UInt32(shift)) }
            return value
        }

        mutating func text() throws(BusMessageError) -> String {
            try text(count: Int(number()))
        }

        mutating func signature() throws(BusMessageError) -> String {
            try text(count: Int(byte()))
        }

        private mutating func text(count: Int) throws(BusMessageError) -> String {
            guard count < bytes.count - position else { throw BusMessageError() }
            defer { position += count + 1 }
            return String(decoding: bytes[position..<(position + count)], as: UTF8.self)
        }
    }
}

/// Bytes that are no message that a bus would send.
struct BusMessageError: Error {}
