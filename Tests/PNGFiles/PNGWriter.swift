/// Writes PNG images of every kind, sound or not, without any library: the deflate stream is only stored.
package struct PNGWriter {
    package var width: Int
    package var height: Int
    package var bitDepth = 8
    /// 0 grey, 2 colour, 3 palette, 4 grey with alpha, 6 colour with alpha.
    package var colourType = 0
    package var isInterlaced = false
    /// Chunks between the header and the pixels: palette, transparency or anything else.
    package var chunks: [(type: String, data: [UInt8])] = []

    package init(width: Int, height: Int, colourType: Int = 0, isInterlaced: Bool = false) {
        self.width = width
        self.height = height
        self.colourType = colourType
        self.isInterlaced = isInterlaced
    }

    private var channels: Int { [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colourType] ?? 1 }

    /// The file.
    ///
    /// - Parameter sample: The channel values of a pixel, each as wide as the bit depth.
    package func file(sample: (_ x: Int, _ y: Int) -> [UInt16]) -> [UInt8] {
        let passes: [(x: Int, y: Int, dx: Int, dy: Int)] =
            isInterlaced
            ? [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
            : [(0, 0, 1, 1)]
        var raw: [UInt8] = []
        for pass in passes where pass.x < width {
            for y in stride(from: pass.y, to: height, by: pass.dy) {
                raw.append(0)
                raw += packed(stride(from: pass.x, to: width, by: pass.dx).flatMap { sample($0, y) })
            }
        }
        return file(pixels: Self.zlib(storing: raw))
    }

    /// The file around the given contents of the pixel chunk.
    package func file(pixels: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let flags: [UInt8] = [UInt8(bitDepth), UInt8(colourType), 0, 0, isInterlaced ? 1 : 0]
        result += Self.chunk("IHDR", Self.bigEndian(UInt32(width)) + Self.bigEndian(UInt32(height)) + flags)
        for chunk in chunks { result += Self.chunk(chunk.type, chunk.data) }
        return result + Self.chunk("IDAT", pixels) + Self.chunk("IEND", [])
    }

    private func packed(_ samples: [UInt16]) -> [UInt8] {
        switch bitDepth {
        case 16: return samples.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        case 8: return samples.map { UInt8($0) }
        default:
            var bytes = [UInt8](repeating: 0, count: (samples.count * bitDepth + 7) / 8)
            for (index, sample) in samples.enumerated() {
                let bit = index * bitDepth
                bytes[bit / 8] |= UInt8(sample) << UInt8(8 - bitDepth - bit % 8)
            }
            return bytes
        }
    }

    package static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return bigEndian(UInt32(data.count)) + body + bigEndian(crc(body))
    }

    /// A zlib stream of stored blocks (RFC 1950, RFC 1951 3.2.4).
    package static func zlib(storing data: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        var rest = data[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            result.append(rest.isEmpty ? 1 : 0)
            for value in [length, ~length] { result += [UInt8(value & 0xFF), UInt8(value >> 8)] }
            result += block
        } while !rest.isEmpty
        var (a, b) = (UInt32(1), UInt32(0))
        for byte in data {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return result + bigEndian(b << 16 | a)
    }

    /// A zlib stream that unpacks to at least `count` bytes and has a hundredth of them: a letter, then matches of
    /// 258 bytes at distance 1, thirteen bits each, in one block of fixed codes (RFC 1951, 3.2.6).
    package static func zlib(repeatedMatches count: Int) -> [UInt8] {
        let letter: [UInt8] = [0, 1, 1, 1, 0, 0, 0, 1]
        let match: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
        var bits: [UInt8] = [1, 1, 0] + letter
        for _ in 0..<(count / 258 + 1) { bits += match }
        bits += [0, 0, 0, 0, 0, 0, 0]
        var result = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
        for (index, bit) in bits.enumerated() where bit == 1 { result[index / 8] |= 1 << UInt8(index % 8) }
        // The right checksum would take a walk over all of the letters, and nothing here looks at it.
        return [0x78, 0x01] + result + [0, 0, 0, 0]
    }

    package static func bigEndian(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
