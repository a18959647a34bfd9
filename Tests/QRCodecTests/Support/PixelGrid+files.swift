import CTurboJPEG
import CWebP
import Testing

/// Files of every format that is read, made without the code that reads them.
extension PixelGrid {
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

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
