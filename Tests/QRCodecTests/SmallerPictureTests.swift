import CWebP
import PNGFiles
import QRCodec
import Testing

@Suite("Pictures made smaller for agents", .timeLimit(.minutes(15)), .onOwnThread)
struct SmallerPictureTests {
    /// A picture that nothing compresses, with a red left half.
    private static func noise(side: Int) -> [UInt8] {
        var state: UInt64 = 1
        return PNGWriter(width: side, height: side, colourType: 2).file { x, _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let value = UInt16(state >> 56)
            return x < side / 2 ? [255, value / 8, value / 8] : [value, value, value]
        }
    }

    @Test(
        "A large PNG becomes a JPEG of the size that is wanted, with its colours",
        arguments: [200_000, 20_000, 3000]
    )
    func png(size: Int) throws {
        let file = Self.noise(side: 700)
        #expect(file.count > 1_000_000)
        let small = try SmallerPicture.jpeg(of: file, atMost: size)
        #expect(small.count <= size && small.starts(with: [0xFF, 0xD8, 0xFF]))
        let seen = try ColourPreview(small, columns: 2, rows: 2)
        #expect(seen[0, 0].red > 220 && seen[0, 0].green < 60 && seen[0, 0].blue < 60)
        #expect(abs(Int(seen[1, 0].red) - Int(seen[1, 0].blue)) < 20)
    }

    @Test("A JPEG and a WebP picture are made smaller too")
    func others() throws {
        let jpeg = try SmallerPicture.jpeg(of: Self.noise(side: 500), atMost: .max)
        #expect(try SmallerPicture.jpeg(of: jpeg, atMost: jpeg.count / 4).count <= jpeg.count / 4)
        let pixels = (0..<64 * 64).flatMap { $0 % 64 < 32 ? [200, 30, 30] : [30, 30, 200] as [UInt8] }
        var output: UnsafeMutablePointer<UInt8>?
        let count = WebPEncodeLosslessRGB(pixels, 64, 64, 64 * 3, &output)
        defer { WebPFree(output) }
        let webp = Array(UnsafeBufferPointer(start: output, count: count))
        let seen = try ColourPreview(try SmallerPicture.jpeg(of: webp, atMost: 4000), columns: 2, rows: 2)
        #expect(seen[0, 0].red > 150 && seen[1, 0].blue > 150)
    }

    @Test(
        "What is no such picture, or damaged, is an error",
        arguments: [
            Array("GIF89a".utf8), [0xFF, 0xD8, 0xFF, 0xE0], Array("RIFF\u{1}\u{0}\u{0}\u{0}WEBPVP8 ".utf8), [],
        ]
    )
    func bad(file: [UInt8]) {
        #expect(throws: QRCodecError.self) { try SmallerPicture.jpeg(of: file, atMost: 1000) }
    }
}
