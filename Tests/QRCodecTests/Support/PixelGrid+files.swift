import CTurboJPEG
import CWebP
import Testing

/// Files of every format that is read, made without the code that reads them.
extension PixelGrid {
    /// A portable anymap: `1` to `7` is the digit after the P.
    func pnm(_ kind: Int, most: Int = 255) -> [UInt8] {
        let isText = kind <= 3
        let channels = kind == 3 || kind == 6 ? 3 : 1
        var file = Array("P\(kind)\n# a comment\n\(width) \(height)\n".utf8)
        if kind == 7 {
            file = Array(
                "P7\nWIDTH \(width)\nHEIGHT \(height)\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n".utf8
            )
            // Ink is opaque black, the paper transparent black.
            return file + dark.flatMap { [0, $0 ? 255 : 0] as [UInt8] }
        }
        if kind == 1 || kind == 4 {
            for y in 0..<height {
                let row = dark[y * width..<(y + 1) * width]
                file +=
                    isText
                    ? row.flatMap { [$0 ? 0x31 : 0x30, 0x20] as [UInt8] } + [0x0A]
                    : Self.packed(row.map { $0 ? 1 : 0 }, bits: 1)
            }
            return file
        }
        file += Array("\(most)\n".utf8)
        for ink in dark {
            let value = ink ? 0 : most
            for _ in 0..<channels {
                if isText {
                    file += Array("\(value)\n".utf8)
                } else {
                    if most > 255 { file.append(UInt8(value >> 8)) }
                    file.append(UInt8(value & 255))
                }
            }
        }
        return file
    }

    /// A BMP image of so many bits a pixel.
    func bmp(bits: Int, isTopDown: Bool = false, isCore: Bool = false, inRuns: Bool = false) -> [UInt8] {
        var rows: [UInt8] = []
        for line in 0..<height {
            let y = isTopDown ? line : height - 1 - line
            var row: [UInt8] = []
            let inks = dark[y * width..<(y + 1) * width]
            if inRuns {
                // Runs of one pixel and, every other line, pixels as they are.
                let values = inks.map { $0 ? 1 : 0 as UInt8 }
                if line % 2 == 0 || width > 255 {
                    row = values.flatMap { [1, bits == 8 ? $0 : $0 << 4] as [UInt8] }
                } else {
                    row = [0, UInt8(width)] + Self.packed(values, bits: bits)
                    if row.count % 2 == 1 { row.append(0) }
                }
                row += [0, 0]
            } else {
                switch bits {
                case 1, 4, 8: row = Self.packed(inks.map { $0 ? 1 : 0 }, bits: bits)
                case 16: row = inks.flatMap { $0 ? [0, 0] : [0xFF, 0x7F] as [UInt8] }
                default: row = inks.flatMap { [UInt8](repeating: $0 ? 0 : 255, count: bits / 8) }
                }
                while row.count % 4 != 0 { row.append(0) }
            }
            rows += row
        }
        if inRuns { rows += [0, 1] }
        let colour: [UInt8] = isCore ? [255, 255, 255, 10, 20, 30] : [255, 255, 255, 0, 10, 20, 30, 0]
        let palette = bits <= 8 ? colour : []
        let tall = Self.little(isTopDown ? -height : height, 4)
        let header =
            isCore
            ? Self.little(12, 4) + Self.little(width, 2) + Self.little(height, 2) + [1, 0, UInt8(bits), 0]
            : Self.little(40, 4) + Self.little(width, 4) + tall + [1, 0, UInt8(bits), 0]
                + Self.little(inRuns ? (bits == 8 ? 1 : 2) : 0, 4) + Self.little(0, 12) + Self.little(2, 4)
                + Self.little(0, 4)
        let offset = 14 + header.count + palette.count
        return Array("BM".utf8) + Self.little(offset + rows.count, 4) + [0, 0, 0, 0] + Self.little(offset, 4) + header
            + palette + rows
    }

    /// A GIF image whose codes are one pixel each, of three bits; the table is cleared before they grow.
    func gif(isInterlaced: Bool = false, isTransparent: Bool = false) -> [UInt8] {
        // Transparent, the paper has the ink's own colour.
        let palette: [UInt8] = (isTransparent ? [0, 0, 0] : [250, 250, 250]) + [0, 0, 0]
        var file = Array("GIF89a".utf8) + Self.little(width, 2) + Self.little(height, 2) + [0x80, 0, 0] + palette
        if isTransparent { file += [0x21, 0xF9, 4, 1, 0, 0, 0, 0] }
        file += [0x21, 0xFE, 3] + Array("abc".utf8) + [0]
        file +=
            [0x2C] + Self.little(0, 4) + Self.little(width, 2) + Self.little(height, 2) + [isInterlaced ? 0x40 : 0, 2]
        var order = Array(0..<height)
        if isInterlaced {
            order = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0, to: height, by: $1)) }
        }
        var (codes, count): ([UInt8], Int) = ([], 0)
        for y in order {
            for x in 0..<width {
                if count % 2 == 0 { codes.append(4) }
                codes.append(dark[y * width + x] ? 1 : 0)
                count += 1
            }
        }
        codes.append(5)
        var (data, bits, held) = ([UInt8](), 0, 0)
        for code in codes {
            bits |= Int(code) << held
            held += 3
            while held >= 8 {
                data.append(UInt8(bits & 255))
                (bits, held) = (bits >> 8, held - 8)
            }
        }
        data.append(UInt8(bits & 255))
        var rest = data[...]
        while !rest.isEmpty {
            file += [UInt8(min(255, rest.count))] + rest.prefix(255)
            rest = rest.dropFirst(255)
        }
        return file + [0, 0x3B]
    }

    /// A WebP image.
    func webp(isLossy: Bool, isTransparent: Bool = false) throws -> [UInt8] {
        let pixels = dark.flatMap { ink in
            isTransparent ? [0, 0, 0, ink ? 255 : 0] : [UInt8](repeating: ink ? 20 : 240, count: 3) + [255]
        }
        var output: UnsafeMutablePointer<UInt8>?
        defer { WebPFree(output) }
        let (columns, rows) = (Int32(width), Int32(height))
        let size =
            isLossy
            ? WebPEncodeRGBA(pixels, columns, rows, 4 * columns, 75, &output)
            : WebPEncodeLosslessRGBA(pixels, columns, rows, 4 * columns, &output)
        try #require(size > 0)
        return Array(UnsafeBufferPointer(start: output, count: size))
    }

    /// An animation in WebP (the container's specification, "Animation"): this, and then nothing but paper.
    ///
    /// - Parameter isTransparent: Whether the paper is, which gives each picture a chunk of its opacity.
    func animatedWebP(isTransparent: Bool) throws -> [UInt8] {
        let empty = PixelGrid(width: width, height: height) { _, _ in false }
        let frames = try [self, empty].flatMap { grid -> [UInt8] in
            let file = try grid.webp(isLossy: true, isTransparent: isTransparent)
            // Without the header of the file, and of what is more than a plain picture.
            var chunks = file.dropFirst(12)
            if chunks.starts(with: "VP8X".utf8) { chunks = chunks.dropFirst(18) }
            try #require(chunks.starts(with: (isTransparent ? "ALPH" : "VP8 ").utf8))
            let place = Self.little(0, 6) + Self.little(width - 1, 3) + Self.little(height - 1, 3)
            return Self.chunk("ANMF", place + Self.little(100, 3) + [0] + chunks)
        }
        let sides = Self.little(width - 1, 3) + Self.little(height - 1, 3)
        let canvas = Self.chunk("VP8X", [isTransparent ? 0x12 : 0x02, 0, 0, 0] + sides)
        let body = Array("WEBP".utf8) + canvas + Self.chunk("ANIM", [255, 255, 255, 255, 0, 0]) + frames
        return Array("RIFF".utf8) + Self.little(body.count, 4) + body
    }

    private static func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(bytes.count, 4) + bytes + [UInt8](repeating: 0, count: bytes.count % 2)
    }

    /// A HEIC image.
    func heic() throws -> [UInt8] { try HEICFile(width: width, height: height).bytes { dark[$1 * width + $0] } }

    /// Values of so many bits each, the first in a byte's highest ones.
    private static func packed(_ values: [UInt8], bits: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (values.count * bits + 7) / 8)
        for (index, value) in values.enumerated() {
            bytes[index * bits / 8] |= value << UInt8(8 - bits - index * bits % 8)
        }
        return bytes
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
