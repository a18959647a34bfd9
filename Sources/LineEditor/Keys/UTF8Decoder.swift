/// Decodes UTF-8 byte by byte. Each maximal part of an invalid sequence becomes U+FFFD (Unicode, section 3.9).
struct UTF8Decoder: Sendable, Equatable {
    private var value: UInt32 = 0
    private var missing = 0
    /// The bytes that may come next in a sequence.
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether a sequence has begun.
    var isPending: Bool { missing > 0 }

    /// Forgets a sequence that has begun.
    ///
    /// - Returns: Whether there was one.
    mutating func reset() -> Bool {
        defer { missing = 0 }
        return isPending
    }

    /// - Parameter emit: Called for each scalar: none, one, or U+FFFD and one more.
    mutating func take(_ byte: UInt8, _ emit: (Unicode.Scalar) -> Void) {
        if isPending {
            if next.contains(byte) {
                value = value << 6 | UInt32(byte & 0x3F)
                missing -= 1
                next = 0x80...0xBF
                if missing == 0 { emit(Unicode.Scalar(value) ?? "\u{FFFD}") }
                return
            }
            missing = 0
            emit("\u{FFFD}")
        }
        switch byte {
        case 0x00...0x7F: emit(Unicode.Scalar(byte))
        case 0xC2...0xDF: begin(byte & 0x1F, missing: 1)
        case 0xE0...0xEF:
            // The ranges leave out overlong forms and surrogates.
            begin(byte & 0x0F, missing: 2, next: byte == 0xE0 ? 0xA0...0xBF : byte == 0xED ? 0x80...0x9F : 0x80...0xBF)
        case 0xF0...0xF4:
            begin(byte & 0x07, missing: 3, next: byte == 0xF0 ? 0x90...0xBF : byte == 0xF4 ? 0x80...0x8F : 0x80...0xBF)
        default: emit("\u{FFFD}")
        }
    }

    private mutating func begin(_ bits: UInt8, missing: Int, next: ClosedRange<UInt8> = 0x80...0xBF) {
        (value, self.missing, self.next) = (UInt32(bits), missing, next)
    }
}
