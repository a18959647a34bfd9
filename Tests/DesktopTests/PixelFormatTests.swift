import QRCodec
import Testing

@testable import Desktop

/// How the pixels of screens become shades of grey.
@Suite struct PixelFormatTests {
    private func format(_ bits: Int, _ masks: (UInt32, UInt32, UInt32), little: Bool = true) -> PixelFormat? {
        PixelFormat(
            bitsPerPixel: bits,
            rowAlignment: 32,
            isLittleEndian: little,
            red: masks.0,
            green: masks.1,
            blue: masks.2
        )
    }

    @Test("White, black and the colours have their shades, in either byte order and with any masks")
    func shades() throws {
        let rgb = try #require(format(32, (0xFF0000, 0xFF00, 0xFF)))
        let pixels: [UInt8] = [0xFF, 0xFF, 0xFF, 0, 0, 0, 0xFF, 0, 0, 0xFF, 0, 0, 0xFF, 0, 0, 0]
        #expect(pixels.withUnsafeBytes { rgb.image($0, width: 4, height: 1)?.luminance } == [255, 77, 149, 29])
        let swapped = try #require(format(32, (0xFF, 0xFF00, 0xFF0000)))
        #expect(pixels.withUnsafeBytes { swapped.image($0, width: 4, height: 1)?.luminance } == [255, 29, 149, 77])
        let big = try #require(format(32, (0xFF0000, 0xFF00, 0xFF), little: false))
        let bigPixels: [UInt8] = [0, 0xFF, 0, 0, 0, 0, 0, 0xFF]
        #expect(bigPixels.withUnsafeBytes { big.image($0, width: 2, height: 1)?.luminance } == [77, 29])
    }

    @Test("Rows of 16 and 24 bits a pixel begin where they are aligned to")
    func rows() throws {
        let short = try #require(format(16, (0xF800, 0x07E0, 0x001F)))
        let pixels: [UInt8] = [0xFF, 0xFF, 9, 9, 0, 0, 9, 9]
        #expect(pixels.withUnsafeBytes { short.image($0, width: 1, height: 2)?.luminance } == [255, 0])
        let packed = try #require(format(24, (0xFF0000, 0xFF00, 0xFF)))
        let row: [UInt8] = [0xFF, 0xFF, 0xFF, 9, 0, 0, 0]
        #expect(row.withUnsafeBytes { packed.image($0, width: 1, height: 2)?.luminance } == [255, 0])
    }

    @Test("A colour may have 24 bits, and no more")
    func deep() throws {
        let deep = try #require(format(32, (0xFFFF_FF00, 0xFFFF_FF00, 0xFFFF_FF00)))
        let pixels = [UInt8](repeating: 0xFF, count: 4)
        #expect(pixels.withUnsafeBytes { deep.image($0, width: 1, height: 1)?.luminance } == [255])
        for mask in [0x1FF_FFFF, 0xFFFF_FF80, .max] as [UInt32] {
            #expect(format(32, (mask, 0xFF00, 0xFF)) == nil)
        }
    }

    @Test("Palettes, odd sizes and pictures that are cut off are refused")
    func refused() throws {
        #expect(format(8, (0, 0, 0)) == nil)
        #expect(format(32, (0, 0, 0)) == nil)
        let rgb = try #require(format(32, (0xFF0000, 0xFF00, 0xFF)))
        let pixels = [UInt8](repeating: 0, count: 15)
        #expect(pixels.withUnsafeBytes { rgb.image($0, width: 2, height: 2) } == nil)
        #expect(pixels.withUnsafeBytes { rgb.image($0, width: 0, height: 0) } == nil)
    }
}
