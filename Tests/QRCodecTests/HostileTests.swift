import PNGFiles
import SeededNumbers
import Testing

@testable import QRCodec

@Suite("Files that mean harm, or are harmed", .onOwnThread)
struct HostileTests {
    @Test("No bytes are an empty file")
    func empty() {
        let error = #expect(throws: QRCodecError.self) { try QRScanner.scan([UInt8]()) }
        #expect(error?.code == .empty)
    }

    @Test(
        "Other formats are named",
        arguments: [
            (Array("GIF89a".utf8), "GIF image"), (Array("BM\u{36}\0\0\0".utf8), "BMP image"),
            (Array("P5 1 1 255\n1".utf8), "PNM image"), (Array("%PDF-1.7".utf8), "PDF document"),
            (Array("RIFF\0\0\0\0WAVEfmt ".utf8), "RIFF file"), (Array("\0\0\0\u{18}ftypavif".utf8), "AVIF image"),
            (Array("\0\0\0\u{18}ftypisom".utf8), "video"), (Array("<?xml version='1.0'?><svg/>".utf8), "SVG drawing"),
            (Array("<!DOCTYPE html>".utf8), "web page"), (Array("{\"protocol\":1}".utf8), "JSON file"),
            (Array("482913\n".utf8), "text file"), (Array("Grüße".utf8), "text file"),
            (Array("P8 1 1".utf8), "text file"),
            ([0x50, 0x4B, 3, 4], "ZIP archive"), ([0x89, 0x50, 0x4E, 0x47, 0x0A], "text conversion"),
            ([0, 1, 2, 3], "unknown kind"), ([0xFF], "unknown kind"), ([0xFF, 0xD8], "unknown kind"),
        ] as [([UInt8], String)]
    )
    func otherFormats(data: [UInt8], name: String) {
        let error = #expect(throws: QRCodecError.self) { try QRScanner.scan(data) }
        #expect(error?.code == .unsupportedFormat)
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    }

    @Test("A PNG under a JPEG's first bytes, and the other way round, is damaged rather than read wrongly")
    func mislabelled() throws {
        let png = try Samples.bytes("good.png")
        let jpeg = try Samples.bytes("photographed.jpg")
        for data in [jpeg.prefix(4) + png.dropFirst(4), png.prefix(8) + jpeg.dropFirst(8)] {
            let error = #expect(throws: QRCodecError.self) { try QRScanner.scan(Array(data)) }
            #expect(error?.code == .corrupt || error?.code == .truncated)
        }
    }

    @Test("A PNG cut off anywhere is read as far as it goes or refused")
    func truncated() throws {
        let file = try Samples.bytes("good.png")
        var refused = 0
        for length in 1..<file.count {
            do throws(QRCodecError) {
                let found = try QRScanner.scan(Array(file[..<length]))
                #expect(found.map(\.text) == [Samples.good], "nothing found in \(length) bytes, and no error")
            } catch {
                refused += 1
                let expected: QRCodecError.Code = length < 8 ? .unsupportedFormat : .truncated
                #expect(error.code == expected, "\(length): \(error)")
            }
        }
        #expect(refused > file.count / 2)
    }

    @Test("A PNG that claims 100,000 × 100,000 pixels is refused from its header")
    func hugeClaim() {
        let writer = PNGWriter(width: 100_000, height: 100_000)
        let error = #expect(throws: QRCodecError.self) { try QRScanner.scan(writer.file(pixels: [0x78, 1, 3, 0])) }
        #expect(error?.code == .tooLarge)
        #expect(error?.message.contains("100000 × 100000") == true)
    }

    @Test("A claim that the file is too short to hold is refused before memory is taken")
    func emptyClaim() {
        let writer = PNGWriter(width: 14_000, height: 14_000)
        let error = #expect(throws: QRCodecError.self) { try QRScanner.scan(writer.file(pixels: [0x78, 1, 3, 0])) }
        #expect(error?.code == .truncated)
        #expect(error?.message.contains("14000 × 14000") == true)
    }

    @Test(
        "Sides that no PNG may have are refused",
        arguments: [(0, 5), (5, 0), (0x8000_0000, 1), (0xFFFF_FFFF, 0xFFFF_FFFF)]
    )
    func impossibleSides(width: Int, height: Int) {
        let error = #expect(throws: QRCodecError.self) {
            try QRScanner.scan(PNGWriter(width: width, height: height).file(pixels: []))
        }
        #expect(error?.code == .corrupt)
    }

    @Test("The caller's limits hold")
    func limits() throws {
        let file = try Samples.bytes("good.png")
        for limits in [
            ImageLimits(maxFileBytes: file.count - 1), ImageLimits(maxPixels: 414 * 414 - 1),
            ImageLimits(maxWorkingBytes: 414 * 414 - 1),
        ] {
            let error = #expect(throws: QRCodecError.self) { try QRScanner.scan(file, limits: limits) }
            #expect(error?.code == .tooLarge)
        }
        let exact = ImageLimits(maxFileBytes: file.count, maxPixels: 414 * 414, maxWorkingBytes: 414 * 414)
        #expect(try QRScanner.scan(file, limits: exact).count == 1)
    }

    @Test("A wrong checksum is damage, unless the QR code can be read all the same")
    func checksum() throws {
        var good = try Samples.bytes("good.png")
        let pixels = try #require(good.indices.dropLast(4).last { good[$0..<$0 + 4].elementsEqual("IEND".utf8) })
        good[pixels - 6] ^= 0xFF
        #expect(try QRScanner.scan(good).map(\.text) == [Samples.good])

        var blank = PNGWriter(width: 50, height: 50).file { _, _ in [255] }
        blank[blank.count - 12 - 2] ^= 0xFF
        let error = #expect(throws: QRCodecError.self) { try QRScanner.scan(blank) }
        #expect(error?.code == .corrupt)

        var header = try Samples.bytes("good.png")
        header[30] ^= 0xFF
        let other = #expect(throws: QRCodecError.self) { try QRScanner.scan(header) }
        #expect(other?.code == .corrupt)
    }

    @Test("Thousands of stray chunks do not keep the symbol from being read")
    func strayChunks() throws {
        let file = try Self.symbolFile(chunks: (0..<2_000).map { _ in ("tEXt", Array("k\0v".utf8)) })
        #expect(try QRScanner.scan(file).map(\.bytes) == [[1, 2, 3]])
    }

    @Test("A text chunk that unpacks to twenty megabytes does no harm")
    func bomb() throws {
        let bomb = Array("k\0\0".utf8) + PNGWriter.zlib(repeatedMatches: 20 << 20)
        #expect(bomb.count < 200_000)
        let file = try Self.symbolFile(chunks: [("zTXt", bomb)])
        #expect(try QRScanner.scan(file).map(\.bytes) == [[1, 2, 3]])
    }

    private static func symbolFile(chunks: [(type: String, data: [UInt8])]) throws -> [UInt8] {
        let grid = try PixelGrid(QRSymbol(bytes: [1, 2, 3]), scale: 4)
        var writer = PNGWriter(width: grid.width, height: grid.height)
        writer.chunks = chunks
        return writer.file { x, y in [grid.dark[y * grid.width + x] ? 0 : 255] }
    }

    @Test(
        "Changed bytes never crash the reader, and what it reads is never wrong",
        arguments: ["good.png", "inverted.png"]
    )
    func mutations(name: String) throws {
        let file = try Samples.bytes(name)
        var generator = SeededGenerator(seed: 42)
        var outcomes: Set<String> = []
        for _ in 0..<150 {
            var mutant = file
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 8..<mutant.count, using: &generator)
                switch Int.random(in: 0...3, using: &generator) {
                case 0: mutant[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
                case 1: mutant[place] = UInt8.random(in: 0...255, using: &generator)
                case 2: mutant.remove(at: place)
                default: mutant.insert(contentsOf: generator.bytes(3), at: place)
                }
            }
            do throws(QRCodecError) {
                let found = try QRScanner.scan(mutant, limits: ImageLimits(maxPixels: 4_000_000))
                outcomes.insert(found.isEmpty ? "none" : "found")
                #expect(found.allSatisfy { $0.text == Samples.good })
            } catch {
                outcomes.insert(error.code.description)
            }
        }
        #expect(outcomes.contains("found") && outcomes.contains("corrupt"), "\(outcomes)")
    }

    @Test("Changed bytes in the photograph never crash the reader")
    func mutatedPhotograph() throws {
        let file = try JPEGTests.file(JPEGTests.kinds[5], scale: 3)
        var generator = SeededGenerator(seed: 7)
        var outcomes: Set<String> = []
        for _ in 0..<150 {
            var mutant = file
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                mutant[Int.random(in: 3..<mutant.count, using: &generator)] =
                    UInt8.random(in: 0...255, using: &generator)
            }
            do throws(QRCodecError) {
                let found = try QRScanner.scan(mutant, limits: ImageLimits(maxPixels: 4_000_000))
                outcomes.insert(found.isEmpty ? "none" : "found")
            } catch {
                outcomes.insert(error.code.description)
            }
        }
        #expect(outcomes.contains("found") && outcomes.contains("corrupt"), "\(outcomes)")
    }

    @Test("A megabyte of JSON does not fit into a symbol, and is told so")
    func megabyte() {
        let error = #expect(throws: QRCodecError.self) { try QRSymbol(bytes: [UInt8](repeating: 65, count: 1 << 20)) }
        #expect(error?.code == .payloadTooLong)
        #expect(error?.message.contains("2331") == true)
    }

    @Test("A place that no picture has is one of its pixels all the same")
    func places() {
        #expect(Point(nearest: Place(1.5, -2.4)) == Point(x: 2, y: -2))
        #expect(Point(nearest: Place(.nan, .infinity)) == Point(x: 0, y: 0))
        #expect(Point(nearest: Place(1e300, -1e300)) == Point(x: 1_000_000_000, y: -1_000_000_000))
    }
}
