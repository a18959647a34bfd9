import CTurboJPEG
import PNGFiles
import QRCodec
import Testing

@Suite("Pictures made small, in colour")
struct ColourPreviewTests {
    /// Four by two pixels: red, red, green, green over blue, blue, white, black.
    private static let rows: [[[UInt16]]] = [
        [[255, 0, 0], [255, 0, 0], [0, 255, 0], [0, 255, 0]],
        [[0, 0, 255], [0, 0, 255], [255, 255, 255], [0, 0, 0]],
    ]

    private static func png(colourType: Int = 2, isInterlaced: Bool = false) -> [UInt8] {
        PNGWriter(width: 4, height: 2, colourType: colourType, isInterlaced: isInterlaced).file { x, y in
            colourType == 2 ? rows[y][x] : rows[y][x] + [255]
        }
    }

    @Test("What fits stays as it is", arguments: [(2, false), (2, true), (6, false)])
    func unchanged(colourType: Int, isInterlaced: Bool) throws {
        let picture = try ColourPreview(
            Self.png(colourType: colourType, isInterlaced: isInterlaced),
            columns: 80,
            rows: 80
        )
        #expect((picture.width, picture.height) == (4, 2))
        for y in 0..<2 {
            for x in 0..<4 {
                let colour = picture[x, y]
                #expect([colour.red, colour.green, colour.blue] == Self.rows[y][x].map { UInt8($0) })
            }
        }
    }

    @Test("Made smaller, a pixel is the mean of those that it stands for, and the shape stays")
    func reduced() throws {
        let picture = try ColourPreview(Self.png(), columns: 2, rows: 80)
        #expect((picture.width, picture.height) == (2, 1))
        #expect((picture[0, 0].red, picture[0, 0].green, picture[0, 0].blue) == (127, 0, 127))
        #expect((picture[1, 0].red, picture[1, 0].green, picture[1, 0].blue) == (63, 191, 63))
        let lower = try ColourPreview(Self.png(), columns: 80, rows: 1)
        #expect((lower.width, lower.height) == (2, 1))
    }

    @Test("JPEG images are read too")
    func jpeg() throws {
        let width = 32
        let pixels = (0..<width * width).flatMap { $0 % width < 16 ? [200, 30, 30] : [30, 30, 200] as [UInt8] }
        let picture = try ColourPreview(Self.jpeg(pixels, side: width), columns: 2, rows: 2)
        #expect((picture.width, picture.height) == (2, 2))
        #expect(picture[0, 0].red > 150 && picture[0, 0].blue < 80)
        #expect(picture[1, 1].blue > 150 && picture[1, 1].red < 80)
    }

    @Test("What is damaged, too large or no picture is refused")
    func refused() throws {
        let png = Self.png()
        let huge = PNGWriter(width: 60_000, height: 60_000, colourType: 2).file(pixels: [])
        let claims = PNGWriter(width: 10_000, height: 10_000, colourType: 2).file(pixels: [0x78, 0x01])
        // One stored block of two black rows, and a checksum that is not theirs.
        let block: [UInt8] = [0x78, 0x01, 0x01, 26, 0, 0xE5, 0xFF] + Array(repeating: 0, count: 26)
        let wrongSum = PNGWriter(width: 4, height: 2, colourType: 2).file(pixels: block + [0, 0, 0, 0])
        let rightSum = PNGWriter(width: 4, height: 2, colourType: 2).file(pixels: block + [0, 26, 0, 1])
        #expect(throws: Never.self) { try ColourPreview(rightSum, columns: 80, rows: 24) }
        for (bytes, code) in [
            ([], QRCodecError.Code.unsupportedFormat), (Array("<html>".utf8), .unsupportedFormat),
            (Array(png.prefix(20)), .truncated), (Array(png.prefix(png.count - 30)), .truncated),
            ([0xFF, 0xD8, 0xFF, 0xE0], .corrupt), (huge, .tooLarge), (claims, .truncated), (wrongSum, .corrupt),
        ] as [([UInt8], QRCodecError.Code)] {
            let error = #expect(throws: QRCodecError.self) { try ColourPreview(bytes, columns: 80, rows: 24) }
            #expect(error?.code == code)
        }
    }

    private static func jpeg(_ pixels: [UInt8], side: Int) throws -> [UInt8] {
        let compressor = try #require(tjInitCompress())
        defer { tjDestroy(compressor) }
        var buffer: UnsafeMutablePointer<UInt8>?
        var size = UInt(0)
        let status = tjCompress2(
            compressor,
            pixels,
            Int32(side),
            0,
            Int32(side),
            Int32(TJPF_RGB.rawValue),
            &buffer,
            &size,
            Int32(TJSAMP_444.rawValue),
            95,
            0
        )
        #expect(status == 0)
        defer { tjFree(buffer) }
        return Array(UnsafeBufferPointer(start: try #require(buffer), count: Int(size)))
    }
}
