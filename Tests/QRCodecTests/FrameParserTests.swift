import QRCodec
import SeededNumbers
import Testing

@Suite("Streams of frames")
struct FrameParserTests {
    /// Feeds bytes in parts of a size.
    private func frames(_ bytes: [UInt8], by size: Int) throws -> [Frame] {
        var (parser, frames) = (FrameParser(), [Frame]())
        for start in stride(from: 0, to: bytes.count, by: size) {
            frames += try parser.take(bytes[start..<min(bytes.count, start + size)])
        }
        try parser.finish()
        return frames
    }

    private func error(_ bytes: [UInt8], by size: Int = 7) -> QRCodecError? {
        #expect(throws: QRCodecError.self) { try frames(bytes, by: size) }
    }

    /// A stream of grey gradients, each frame a shade lighter.
    private static func y4m(_ header: String, width: Int, height: Int, colour: Int, frames: Int = 3) -> [UInt8] {
        var stream = Array("YUV4MPEG2 \(header)\n".utf8)
        for frame in 0..<frames {
            stream += Array((frame == 1 ? "FRAME Ip XODD=1\n" : "FRAME\n").utf8)
            stream += (0..<width * height).map { UInt8(($0 + frame) % 256) }
            // What looks like a frame in the colours is none.
            stream += Array("FRAME\n".utf8).prefix(colour) + [UInt8](repeating: 0x46, count: max(0, colour - 6))
        }
        return stream
    }

    struct Layout: Sendable {
        var name: String
        var width: Int
        var height: Int
        var colour: Int
    }

    private static let layouts = [
        Layout(name: "Cmono", width: 5, height: 3, colour: 0), Layout(name: "", width: 5, height: 3, colour: 12),
        Layout(name: "C420", width: 4, height: 2, colour: 4), Layout(name: "C420jpeg", width: 5, height: 3, colour: 12),
        Layout(name: "C420mpeg2", width: 5, height: 3, colour: 12),
        Layout(name: "C420paldv XYSCSS=420PALDV", width: 5, height: 3, colour: 12),
        Layout(name: "C422", width: 5, height: 3, colour: 18), Layout(name: "C440", width: 5, height: 3, colour: 20),
        Layout(name: "C411", width: 5, height: 3, colour: 12), Layout(name: "C410", width: 5, height: 3, colour: 4),
        Layout(name: "C444", width: 5, height: 3, colour: 30),
        Layout(name: "C444alpha", width: 5, height: 3, colour: 45),
    ]

    @Test("Of YUV4MPEG2, the luminance of every 8-bit layout is taken, however the bytes come", arguments: layouts)
    private func layout(_ layout: Layout) throws {
        let (width, height) = (layout.width, layout.height)
        let header = "W\(width) H\(height) F30000:1001 Ip A1:1 \(layout.name)"
        let stream = Self.y4m(header, width: width, height: height, colour: layout.colour)
        for size in [1, 3, 1_000] {
            let images = try frames(stream, by: size).map(\.image)
            #expect(images.map { $0?.luminance.first } == [0, 1, 2])
            #expect(images.allSatisfy { $0?.width == width && $0?.height == height })
        }
    }

    @Test(
        "A damaged or oversized YUV4MPEG2 stream is refused",
        arguments: [
            ("YUV4MPEG2 W4 H2 C420p10\nFRAME\n", QRCodecError.Code.unsupportedFormat),
            ("YUV4MPEG2 W4 H2 Cmono16\n", .unsupportedFormat), ("YUV4MPEG2 W4\n", .corrupt),
            ("YUV4MPEG2 W-4 H2\n", .corrupt), ("YUV4MPEG2 W4 H0\n", .corrupt),
            ("YUV4MPEG2 W99999 H99999\n", .tooLarge), ("YUV4MPEG2 W9223372036854775807 H9\n", .tooLarge),
            ("YUV4MPEG2 W99999999999999999999 H9\n", .corrupt), ("YUV4MPEG2X W4 H2\n", .corrupt),
            ("YUV4MPEG2 W1 H1 Cmono\nFRAME\nxNOFRAME\n", .corrupt), ("YUV4MPEG2 W4 H2\nFRAME\nxyz", .truncated),
            ("YUV4MPEG2 W4 H2\n", .truncated), ("YUV4MPEG2", .truncated), ("YUV4", .unsupportedFormat),
            ("YUV4MPEG2 " + String(repeating: "X", count: 2_000), .corrupt), ("", .empty),
        ]
    )
    func damaged(text: String, code: QRCodecError.Code) {
        #expect(error(Array(text.utf8))?.code == code)
    }

    /// A small JPEG file in which nothing is like in others: comment, tables, a scan with stuffed and restart bytes.
    private static func jpeg(_ mark: UInt8, scan: [UInt8] = [1, 0xFF, 0, 2, 0xFF, 0xD3, 3]) -> [UInt8] {
        [0xFF, 0xD8, 0xFF, 0xFE, 0, 3, mark, 0xFF, 0xFF, 0xDA, 0, 2] + scan + [0xFF, 0xD9]
    }

    private func files(_ stream: [UInt8], by size: Int) throws -> [[UInt8]] {
        try frames(stream, by: size).compactMap { if case .jpeg(let bytes) = $0 { bytes } else { nil } }
    }

    /// The same without fill bytes.
    private static func plain(_ file: [UInt8]) -> [UInt8] {
        Array(file[..<7] + file[8...])
    }

    @Test("JPEG files are told apart, however the bytes come", arguments: [1, 2, 3, 5, 64])
    func jpegs(by size: Int) throws {
        let marks = (1...4).map(UInt8.init)
        #expect(try files(marks.flatMap { Self.jpeg($0) }, by: size) == marks.map { Self.plain(Self.jpeg($0)) })
    }

    @Test("What stands between JPEG files is passed over", arguments: [1, 4, 64])
    func between(by size: Int) throws {
        let part = Array("--frame\r\nContent-Type: image/jpeg\r\n\r\n".utf8)
        let stream = part + Self.jpeg(1) + part + [0xFF] + Self.jpeg(2) + [0xFF, 0xD9, 0, 0]
        #expect(try files(stream, by: size) == [1, 2].map { Self.plain(Self.jpeg($0)) })
    }

    @Test("A thumbnail in a segment is part of its file", arguments: [1, 4, 64])
    func thumbnail(by size: Int) throws {
        let small = Self.jpeg(9)
        let segment = [0xFF, 0xE1, 0, UInt8(small.count + 2)] + small
        let file = [0xFF, 0xD8] + segment + Self.plain(Self.jpeg(1)).dropFirst(2)
        #expect(try files(file + file, by: size) == [file, file])
    }

    @Test("A file of several scans is one; one that another begins in is left out", arguments: [1, 4, 64])
    func scans(by size: Int) throws {
        let progressive = Self.jpeg(1).dropLast(2) + [0xFF, 0xC4, 0, 3, 7, 0xFF, 0xDA, 0, 2, 5, 6, 0xFF, 0xD9]
        let half = Self.jpeg(2).dropLast(3)
        let stream = Array(progressive) + half + Self.jpeg(3)
        #expect(try files(stream, by: size) == [Self.plain(Array(progressive)), Self.plain(Self.jpeg(3))])
    }

    @Test("What holds no JPEG file is refused by what it is")
    func notFrames() {
        #expect(error(Array("P5 2 2 255\n1234".utf8))?.message.contains("PNM image") == true)
        #expect(error([0x1A, 0x45, 0xDF, 0xA3] + Array("matroska".utf8), by: 100)?.message.contains("video") == true)
        #expect(error(Array("hello, there".utf8))?.code == .unsupportedFormat)
        #expect(error([UInt8](repeating: 7, count: 2 << 20), by: 4_096)?.message.contains("1 MiB") == true)
        #expect(error(Array(Self.jpeg(1).dropLast()))?.code == .truncated)
        #expect(error([0xFF, 0xD8, 0xFF, 0xE0, 0, 1, 5])?.code == .unsupportedFormat)
    }

    @Test("A file without end is given up, and the next one found")
    func endless() throws {
        let endless = [0xFF, 0xD8, 0xFF, 0xDA, 0, 2] + [UInt8](repeating: 3, count: 17 << 20)
        #expect(try files(endless + Self.jpeg(1), by: 1 << 16) == [Self.plain(Self.jpeg(1))])
    }

    @Test("Random bytes never crash it, in any parts", arguments: 0..<20 as Range<UInt64>)
    func noise(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var stream = Self.jpeg(1) + Self.jpeg(2) + Self.y4m("W4 H2", width: 4, height: 2, colour: 4)
        if seed % 2 == 0 { stream = Self.y4m("W4 H2", width: 4, height: 2, colour: 4) + stream }
        for _ in 0..<2_000 {
            var changed = stream
            for _ in 0..<4 { changed[Int.random(in: changed.indices, using: &generator)] = generator.bytes(1)[0] }
            _ = try? frames(changed, by: Int.random(in: 1...40, using: &generator))
        }
    }
}
