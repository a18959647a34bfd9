/// The size that a coded picture gives for itself, before anything of it is decoded (ITU-T H.265, 7.3.2.2): the
/// sequence parameter set, by which a decoder takes its memory.
struct HEVCPictureSize: Hashable {
    var width: Int
    var height: Int
    /// The most bits that a channel has.
    var bits: Int

    /// The type of a unit that is a sequence parameter set (table 7-1).
    private static let unitType: UInt8 = 33
    /// Bytes that hold all that is read here, whatever comes before it.
    private static let most = 256

    /// - Parameter unit: A unit with its header of two bytes.
    /// - Returns: nil where the unit is of another type.
    /// - Throws: ``QRCodecError`` with the code `corrupt` where the size cannot be told.
    init?(unit: Slice<UnsafeRawBufferPointer>) throws(QRCodecError) {
        guard let first = unit.first, first >> 1 & 0x3F == Self.unitType else { return nil }
        var bits = HEVCBits(unit.dropFirst(2).prefix(Self.most))
        guard let size = HEVCPictureSize(&bits) else {
            throw QRCodecError(.corrupt, message: "The HEIC image does not say how large its pictures are.")
        }
        self = size
    }

    private init?(_ bits: inout HEVCBits) {
        guard bits.skip(4), let layers = bits.number(3), bits.skip(1), Self.skipProfile(&bits, layers: layers),
            bits.exponential() != nil, let chroma = bits.exponential()
        else { return nil }
        if chroma == 3 { guard bits.skip(1) else { return nil } }
        guard let width = bits.exponential(), let height = bits.exponential(), let isCropped = bits.number(1) else {
            return nil
        }
        if isCropped == 1 {
            for _ in 0..<4 { guard bits.exponential() != nil else { return nil } }
        }
        guard let luma = bits.exponential(), let colour = bits.exponential() else { return nil }
        (self.width, self.height, self.bits) = (width, height, 8 + max(luma, colour))
    }

    /// Skips profile, tier and level, of the layers too (7.3.3).
    private static func skipProfile(_ bits: inout HEVCBits, layers: Int) -> Bool {
        guard bits.skip(96) else { return false }
        guard layers > 0 else { return true }
        var length = 0
        for layer in 0..<8 {
            guard let present = bits.number(2) else { return false }
            if layer < layers { length += (present >> 1) * 88 + (present & 1) * 8 }
        }
        return bits.skip(length)
    }
}

/// The bits of a unit, without the bytes that keep start codes out of it (7.4.2).
private struct HEVCBits {
    private var bytes: [UInt8] = []
    private var position = 0

    init(_ unit: Slice<UnsafeRawBufferPointer>) {
        var zeros = 0
        for byte in unit {
            if zeros == 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? min(2, zeros + 1) : 0
            bytes.append(byte)
        }
    }

    mutating func skip(_ count: Int) -> Bool {
        position += count
        return position <= 8 * bytes.count
    }

    mutating func number(_ count: Int) -> Int? {
        guard position + count <= 8 * bytes.count else { return nil }
        var value = 0
        for _ in 0..<count {
            value = value << 1 | Int(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
            position += 1
        }
        return value
    }

    /// A number written with as many zeros before it as it has bits after its first (9.2).
    mutating func exponential() -> Int? {
        var zeros = 0
        while true {
            guard zeros <= 32, let bit = number(1) else { return nil }
            if bit == 1 { break }
            zeros += 1
        }
        return number(zeros).map { 1 << zeros - 1 + $0 }
    }
}
