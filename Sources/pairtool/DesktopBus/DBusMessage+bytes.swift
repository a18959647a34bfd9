import CompanionWire

extension DBusMessage {
    /// The message as it goes to the bus.
    var bytes: [UInt8] {
        var content = DBusWriter()
        for value in body { content.write(value) }
        var fields = DBusWriter()
        let names: [(UInt8, String, String?)] = [
            (1, "o", path), (2, "s", interface), (3, "s", member), (4, "s", errorName), (6, "s", destination),
        ]
        for (code, type, text) in names {
            guard let text else { continue }
            fields.begin(code, type)
            fields.write(text)
        }
        if let replySerial {
            fields.begin(5, "u")
            fields.write(replySerial)
        }
        if !body.isEmpty {
            fields.begin(8, "g")
            fields.writeSignature(body.map(\.signature).joined())
        }
        var message = DBusWriter()
        message.bytes = [UInt8(ascii: "l"), kind.rawValue, 0, 1]
        message.write(UInt32(content.bytes.count))
        message.write(serial)
        message.write(UInt32(fields.bytes.count))
        message.bytes += fields.bytes
        message.pad(to: 8)
        return message.bytes + content.bytes
    }

    /// The size of the message that begins the bytes; nil while too little of it is there.
    static func size(of bytes: some Collection<UInt8>) throws(DBusFormatError) -> Int? {
        let head = Array(bytes.prefix(16))
        guard head.count == 16 else { return nil }
        guard head[0] == UInt8(ascii: "l"), head[3] == 1 else { throw DBusFormatError() }
        var reader = DBusReader(head)
        reader.position = 4
        let body = Int(try reader.number())
        reader.position = 12
        let fields = Int(try reader.number())
        guard body <= limit, fields <= limit else { throw DBusFormatError() }
        return (16 + fields + 7) / 8 * 8 + body
    }

    /// Reads one whole message.
    init(parsing bytes: [UInt8]) throws(DBusFormatError) {
        guard try Self.size(of: bytes) == bytes.count, let kind = Kind(rawValue: bytes[1]) else {
            throw DBusFormatError()
        }
        self.kind = kind
        var reader = DBusReader(bytes)
        reader.position = 8
        serial = try reader.number()
        let end = 16 + Int(try reader.number())
        var signature = ""
        while reader.position < end {
            reader.align(to: 8)
            let code = try reader.byte()
            switch (code, try reader.signature()) {
            case (1, "o"): path = try reader.text()
            case (2, "s"): interface = try reader.text()
            case (3, "s"): member = try reader.text()
            case (4, "s"): errorName = try reader.text()
            case (5, "u"): replySerial = try reader.number()
            case (6, "s"): destination = try reader.text()
            case (7, "s"): sender = try reader.text()
            case (8, "g"): signature = try reader.signature()
            case (_, "s"), (_, "o"): _ = try reader.text()
            case (_, "g"): _ = try reader.signature()
            case (_, "u"): _ = try reader.number()
            default: throw DBusFormatError()
            }
        }
        reader.align(to: 8)
        body = try reader.values(signature)
    }
}

/// Writes values by the rules of alignment of the D-Bus specification.
private struct DBusWriter {
    var bytes: [UInt8] = []

    mutating func pad(to alignment: Int) {
        while bytes.count % alignment != 0 { bytes.append(0) }
    }

    mutating func write(_ number: UInt32) {
        pad(to: 4)
        for shift in [0, 8, 16, 24] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// NUL characters have no place in texts of D-Bus.
    mutating func write(_ text: String) {
        let content = text.utf8.filter { $0 != 0 }
        write(UInt32(content.count))
        bytes += content + [0]
    }

    mutating func writeSignature(_ signature: String) {
        bytes += [UInt8(signature.utf8.count)] + Array(signature.utf8) + [0]
    }

    /// Begins a field of the header: its code and the signature of the variant that it is.
    mutating func begin(_ code: UInt8, _ signature: String) {
        pad(to: 8)
        bytes.append(code)
        writeSignature(signature)
    }

    mutating func write(_ value: DBusValue) {
        switch value {
        case .string(let text): write(text)
        case .number(let number): write(number)
        case .signed(let number): write(UInt32(bitPattern: number))
        case .strings(let texts): writeArray(alignment: 4, texts) { $0.write($1) }
        case .hints(let hints):
            writeArray(alignment: 8, hints.sorted { $0.key < $1.key }) { writer, entry in
                writer.pad(to: 8)
                writer.write(entry.key)
                switch entry.value {
                case .byte(let byte):
                    writer.writeSignature("y")
                    writer.bytes.append(byte)
                case .flag(let flag):
                    writer.writeSignature("b")
                    writer.write(UInt32(flag ? 1 : 0))
                case .string(let text):
                    writer.writeSignature("s")
                    writer.write(text)
                }
            }
        }
    }

    /// The length of an array counts neither itself nor the padding in front of the first element.
    private mutating func writeArray<Element>(
        alignment: Int,
        _ elements: [Element],
        _ write: (inout DBusWriter, Element) -> Void
    ) {
        pad(to: 4)
        let place = bytes.count
        self.write(UInt32(0))
        pad(to: alignment)
        let start = bytes.count
        for element in elements { write(&self, element) }
        var length = DBusWriter()
        length.write(UInt32(bytes.count - start))
        bytes.replaceSubrange(place..<(place + 4), with: length.bytes)
    }
}

/// Reads values, and throws if there is no room for them.
private struct DBusReader {
    let bytes: [UInt8]
    var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func align(to alignment: Int) {
        position = (position + alignment - 1) / alignment * alignment
    }

    mutating func byte() throws(DBusFormatError) -> UInt8 {
        guard position < bytes.count else { throw DBusFormatError() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number() throws(DBusFormatError) -> UInt32 {
        align(to: 4)
        guard position + 4 <= bytes.count else { throw DBusFormatError() }
        defer { position += 4 }
        return bytes[position..<(position + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func text() throws(DBusFormatError) -> String {
        try text(of: Int(try number()))
    }

    mutating func signature() throws(DBusFormatError) -> String {
        try text(of: Int(try byte()))
    }

    private mutating func text(of length: Int) throws(DBusFormatError) -> String {
        guard position + length + 1 <= bytes.count else { throw DBusFormatError() }
        defer { position += length + 1 }
        return String(decoding: bytes[position..<(position + length)], as: UTF8.self)
    }

    /// A dictionary, up to the first value of a type that is not known here.
    private mutating func hints() throws(DBusFormatError) -> [String: DBusValue.Hint] {
        let length = Int(try number())
        align(to: 8)
        let end = position + length
        guard end <= bytes.count else { throw DBusFormatError() }
        var hints: [String: DBusValue.Hint] = [:]
        while position < end {
            align(to: 8)
            let name = try text()
            switch try signature() {
            case "y": hints[name] = .byte(try byte())
            case "b": hints[name] = .flag(try number() != 0)
            case "s", "o": hints[name] = .string(try text())
            default: position = end
            }
        }
        return hints
    }

    /// The values of a signature, up to the first of a type that is not known here.
    mutating func values(_ signature: String) throws(DBusFormatError) -> [DBusValue] {
        var values: [DBusValue] = []
        var rest = Substring(signature)
        while let type = rest.popFirst() {
            switch type {
            case "s", "o": values.append(.string(try text()))
            case "u": values.append(.number(try number()))
            case "i": values.append(.signed(Int32(bitPattern: try number())))
            case "a" where rest.first == "s":
                rest.removeFirst()
                let end = Int(try number()) + position
                guard end <= bytes.count else { throw DBusFormatError() }
                var texts: [String] = []
                while position < end { texts.append(try text()) }
                values.append(.strings(texts))
            case "a" where rest.begins(with: "{sv}"):
                rest.removeFirst("{sv}".count)
                values.append(.hints(try hints()))
            default: return values
            }
        }
        return values
    }
}
