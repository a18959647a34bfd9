/// Writes values as XDR (RFC 4506): big endian, in units of four bytes.
struct XDRWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ value: UInt32) {
        bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// Writes bytes of variable length (section 4.10): their count, they themselves, and zeros to the next unit.
    mutating func write(opaque value: [UInt8]) {
        write(UInt32(value.count))
        bytes += value + [UInt8](repeating: 0, count: -value.count & 3)
    }
}

/// Reads values of XDR. Each method returns nil where the bytes are not that.
struct XDRReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// Whether everything was read.
    var isAtEnd: Bool { rest.isEmpty }

    mutating func readNumber() -> UInt32? {
        guard rest.count >= 4 else { return nil }
        defer { rest = rest.dropFirst(4) }
        return rest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Reads bytes of variable length.
    ///
    /// - Parameter limit: The most bytes.
    mutating func readOpaque(atMost limit: Int) -> [UInt8]? {
        guard let number = readNumber(), number <= UInt32(limit) else { return nil }
        let count = Int(number)
        let padding = -count & 3
        guard rest.count >= count + padding else { return nil }
        defer { rest = rest.dropFirst(count + padding) }
        guard rest.dropFirst(count).prefix(padding).allSatisfy({ $0 == 0 }) else { return nil }
        return Array(rest.prefix(count))
    }

    mutating func readBool() -> Bool? {
        guard let number = readNumber(), number <= 1 else { return nil }
        return number == 1
    }
}
