import CTurboJPEG
import QRCodec
import Testing

@Suite("JPEG images of every kind", .onOwnThread)
struct JPEGTests {
    private static let payload = Array("kinds of JPEG".utf8)

    struct Kind: Sendable, CustomTestStringConvertible {
        var name: String
        var format: TJPF
        var channels: Int
        var subsampling: TJSAMP
        var flags: Int32 = 0
        var testDescription: String { name }
    }

    static let kinds = [
        Kind(name: "grey", format: TJPF_GRAY, channels: 1, subsampling: TJSAMP_GRAY),
        Kind(
            name: "grey, progressive",
            format: TJPF_GRAY,
            channels: 1,
            subsampling: TJSAMP_GRAY,
            flags: TJFLAG_PROGRESSIVE
        ),
        Kind(name: "colour 4:4:4", format: TJPF_RGB, channels: 3, subsampling: TJSAMP_444),
        Kind(name: "colour 4:2:0", format: TJPF_RGB, channels: 3, subsampling: TJSAMP_420),
        Kind(name: "colour 4:1:1", format: TJPF_RGB, channels: 3, subsampling: TJSAMP_411),
        Kind(
            name: "colour, progressive",
            format: TJPF_RGB,
            channels: 3,
            subsampling: TJSAMP_420,
            flags: TJFLAG_PROGRESSIVE
        ),
        Kind(name: "inks", format: TJPF_CMYK, channels: 4, subsampling: TJSAMP_444),
        Kind(
            name: "inks, progressive",
            format: TJPF_CMYK,
            channels: 4,
            subsampling: TJSAMP_420,
            flags: TJFLAG_PROGRESSIVE
        ),
    ]

    /// A symbol in dark ink on white paper, as a JPEG file.
    static func file(_ kind: Kind, scale: Int = 4) throws -> [UInt8] {
        try file(PixelGrid(QRSymbol(bytes: payload), scale: scale), kind)
    }

    static func file(_ grid: PixelGrid, _ kind: Kind = kinds[0]) throws -> [UInt8] {
        let pixels = grid.dark.flatMap { [UInt8](repeating: $0 ? 30 : 250, count: kind.channels) }
        return try compressed(pixels, width: grid.width, height: grid.height, kind)
    }

    private static func compressed(_ pixels: [UInt8], width: Int, height: Int, _ kind: Kind) throws -> [UInt8] {
        let compressor = try #require(tjInitCompress())
        defer { tjDestroy(compressor) }
        var (buffer, size) = (UnsafeMutablePointer<UInt8>?.none, UInt(0))
        defer { tjFree(buffer) }
        let status = tjCompress2(
            compressor,
            pixels,
            Int32(width),
            0,
            Int32(height),
            Int32(kind.format.rawValue),
            &buffer,
            &size,
            Int32(kind.subsampling.rawValue),
            80,
            kind.flags
        )
        try #require(status == 0)
        return Array(UnsafeBufferPointer(start: buffer, count: Int(size)))
    }

    @Test("Grey, colour and inks are read, baseline or progressive", arguments: kinds)
    func kind(_ kind: Kind) throws {
        #expect(try QRScanner.scan(Self.file(kind)).map(\.bytes) == [Self.payload])
    }

    @Test("Cut off anywhere, it is read as far as it goes or refused", arguments: [kinds[0], kinds[5], kinds[6]])
    func truncated(_ kind: Kind) throws {
        let file = try Self.file(kind)
        var codes: Set<QRCodecError.Code> = []
        for length in stride(from: 1, to: file.count, by: 7) {
            do throws(QRCodecError) {
                let found = try QRScanner.scan(Array(file[..<length]))
                #expect(found.map(\.bytes) == [Self.payload], "nothing found in \(length) bytes, and no error")
            } catch {
                codes.insert(error.code)
                #expect([.truncated, .corrupt, .unsupportedFormat].contains(error.code), "\(length): \(error)")
            }
        }
        #expect(codes.contains(.truncated))
    }

    @Test("A code in a photograph of 26 megapixels is read, large or with three pixels a module", arguments: [60, 3])
    func veryLarge(scale: Int) throws {
        let grid = try PixelGrid(QRSymbol(bytes: Self.payload), scale: scale)
        let (width, height) = (5_200, 5_000)
        var pixels = [UInt8](repeating: 240, count: width * height)
        for y in 0..<grid.height {
            for x in 0..<grid.width where grid.dark[y * grid.width + x] { pixels[(y + 900) * width + x + 2_000] = 20 }
        }
        let file = try Self.compressed(pixels, width: width, height: height, Self.kinds[0])
        let found = try QRScanner.scan(file)
        #expect(found.map(\.bytes) == [Self.payload])
        let first = try #require(found.first?.corners.first)
        #expect(abs(first.x - 2_000 - 4 * scale) < scale && abs(first.y - 900 - 4 * scale) < scale, "\(first)")
    }

    @Test("What keeps all of a picture in memory may be smaller than what gives it row by row")
    func memory() throws {
        let (plain, progressive) = (try Self.file(Self.kinds[3]), try Self.file(Self.kinds[5]))
        let side = 29 * 4
        let limits = ImageLimits(maxWorkingBytes: 2 * side * side)
        #expect(try QRScanner.scan(plain, limits: limits).map(\.bytes) == [Self.payload])
        let error = #expect(throws: QRCodecError.self) { try QRScanner.scan(progressive, limits: limits) }
        #expect(error?.code == .tooLarge)
    }

    @Test("A claim of more pixels than are read is refused from the header", arguments: [0xFFFF, 0xFF00, 0x8000])
    func huge(side: Int) throws {
        var file = try Self.file(Self.kinds[2])
        let frame = try #require((0..<file.count - 8).first { file[$0] == 0xFF && file[$0 + 1] == 0xC0 })
        for offset in [5, 7] {
            file[frame + offset] = UInt8(side >> 8)
            file[frame + offset + 1] = UInt8(side & 0xFF)
        }
        let error = #expect(throws: QRCodecError.self) { try QRScanner.scan(file) }
        #expect(error?.code == .tooLarge)
        #expect(error?.message.contains(side > 65_500 ? "65,500" : "\(side) × \(side)") == true)
    }
}
