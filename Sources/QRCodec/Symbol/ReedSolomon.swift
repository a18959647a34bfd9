/// The Reed–Solomon code of QR codes: over the field of 256 elements that x⁸ + x⁴ + x³ + x² + 1 makes, with the roots
/// α⁰, α¹, … (ISO/IEC 18004, 7.5.2).
struct ReedSolomon: Sendable {
    /// αⁿ, twice over, so that sums of two logarithms need no remainder.
    private let powers: [UInt8]
    private let logarithms: [Int]

    init() {
        var powers = [UInt8](repeating: 0, count: 510)
        var logarithms = [Int](repeating: 0, count: 256)
        var element = 1
        for exponent in 0..<255 {
            powers[exponent] = UInt8(element)
            powers[exponent + 255] = UInt8(element)
            logarithms[element] = exponent
            element <<= 1
            if element > 255 { element ^= 0x11D }
        }
        self.powers = powers
        self.logarithms = logarithms
    }

    /// Whether a block is without any fault: whether it, as a polynomial, is 0 at all roots.
    ///
    /// - Parameters:
    ///   - block: Its data and then its error correction codewords.
    ///   - correctionCount: How many of the latter there are, and so how many roots.
    func isFaultless(_ block: [UInt8], correctionCount: Int) -> Bool {
        for root in 0..<correctionCount {
            var sum: UInt8 = 0
            for codeword in block {
                sum = codeword ^ (sum == 0 ? 0 : powers[logarithms[Int(sum)] + root])
            }
            guard sum == 0 else { return false }
        }
        return true
    }
}
