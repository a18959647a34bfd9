/// SHA-1 and SHA-256 (FIPS 180-4), for the ids that deployed hosts derive. Not for secrets: speed and time do not
/// matter here.
package enum Digest {
    /// SHA-1 as lower-case hex digits.
    package static func sha1(_ text: String) -> String {
        var hash: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for block in blocks(of: text) {
            var w = block
            for i in 16..<80 { w.append(rotateLeft(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1)) }
            var (a, b, c, d, e) = (hash[0], hash[1], hash[2], hash[3], hash[4])
            for i in 0..<80 {
                let (f, k): (UInt32, UInt32) =
                    switch i {
                    case ..<20: ((b & c) | (~b & d), 0x5A82_7999)
                    case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                    case ..<60: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
                    default: (b ^ c ^ d, 0xCA62_C1D6)
                    }
                let next = rotateLeft(a, 5) &+ f &+ e &+ k &+ w[i]
                (e, d, c, b, a) = (d, c, rotateLeft(b, 30), a, next)
            }
            for (i, value) in [a, b, c, d, e].enumerated() { hash[i] &+= value }
        }
        return hex(hash)
    }

    /// SHA-256 as lower-case hex digits.
    package static func sha256(_ text: String) -> String {
        var hash = primes(8).map { fraction(of: Double($0).squareRoot()) }
        let k = primes(64).map { fraction(of: cubeRoot(Double($0))) }
        for block in blocks(of: text) {
            var w = block
            for i in 16..<64 {
                let s0 = rotateLeft(w[i - 15], 25) ^ rotateLeft(w[i - 15], 14) ^ (w[i - 15] >> 3)
                let s1 = rotateLeft(w[i - 2], 15) ^ rotateLeft(w[i - 2], 13) ^ (w[i - 2] >> 10)
                w.append(w[i - 16] &+ s0 &+ w[i - 7] &+ s1)
            }
            var v = hash
            for i in 0..<64 {
                let s1 = rotateLeft(v[4], 26) ^ rotateLeft(v[4], 21) ^ rotateLeft(v[4], 7)
                let t1 = v[7] &+ s1 &+ ((v[4] & v[5]) ^ (~v[4] & v[6])) &+ k[i] &+ w[i]
                let s0 = rotateLeft(v[0], 30) ^ rotateLeft(v[0], 19) ^ rotateLeft(v[0], 10)
                let t2 = s0 &+ ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]))
                v = [t1 &+ t2, v[0], v[1], v[2], v[3] &+ t1, v[4], v[5], v[6]]
            }
            for i in 0..<8 { hash[i] &+= v[i] }
        }
        return hex(hash)
    }

    private static func blocks(of text: String) -> [[UInt32]] {
        var bytes = Array(text.utf8)
        let bits = UInt64(bytes.count) * 8
        bytes.append(0x80)
        while bytes.count % 64 != 56 { bytes.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
        return stride(from: 0, to: bytes.count, by: 64).map { start in
            stride(from: start, to: start + 64, by: 4).map { bytes[$0..<($0 + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
        }
    }

    private static func rotateLeft(_ value: UInt32, _ count: UInt32) -> UInt32 {
        value << count | value >> (32 - count)
    }

    private static func hex(_ words: [UInt32]) -> String {
        words.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    private static func primes(_ count: Int) -> [Int] {
        Array((2...311).lazy.filter { n in !(2..<n).contains { n % $0 == 0 } }.prefix(count))
    }

    /// The first 32 bits behind the point.
    private static func fraction(of value: Double) -> UInt32 {
        UInt32((value - value.rounded(.down)) * 4_294_967_296)
    }

    private static func cubeRoot(_ value: Double) -> Double {
        var root = value / 3
        for _ in 0..<60 { root = (2 * root + value / (root * root)) / 3 }
        return root
    }
}
