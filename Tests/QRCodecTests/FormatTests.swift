import QRCodec
import Testing

@Suite("Images of the other formats")
struct FormatTests {
    private static let payload = Array("formats".utf8)

    struct Format: Sendable, CustomTestStringConvertible {
        var name: String
        var file: @Sendable (PixelGrid) throws -> [UInt8]
        var testDescription: String { name }

        init(_ name: String, _ file: @escaping @Sendable (PixelGrid) throws -> [UInt8]) {
            (self.name, self.file) = (name, file)
        }
    }

    static let formats: [Format] =
        [
            Format("WebP, lossy") { try $0.webp(isLossy: true) },
            Format("WebP, lossless") { try $0.webp(isLossy: false) },
            Format("WebP, transparent") { try $0.webp(isLossy: false, isTransparent: true) },
            Format("WebP, lossy and transparent") { try $0.webp(isLossy: true, isTransparent: true) },
            Format("WebP, animated") { try $0.animatedWebP(isTransparent: false) },
            Format("WebP, animated and transparent") { try $0.animatedWebP(isTransparent: true) },
            Format("HEIC") { try $0.heic() },
        ]

    static func file(_ format: Format, scale: Int = 4) throws -> [UInt8] {
        try format.file(PixelGrid(QRSymbol(bytes: payload), scale: scale))
    }

    @Test("A symbol is read, with its corners", arguments: formats)
    func reads(_ format: Format) throws {
        let found = try QRScanner.scan(Self.file(format))
        #expect(found.map(\.bytes) == [Self.payload])
        // The margin is 16 pixels, the symbol 84.
        #expect(found.first?.corners.allSatisfy { abs($0.x - 58) > 38 && abs($0.x - 58) < 46 } == true)
    }

    @Test("Sides of any length are read", arguments: [116, 117, 131, 203])
    func sides(side: Int) throws {
        let grid = try PixelGrid(QRSymbol(bytes: Self.payload), scale: 4)
        let other = PixelGrid(width: side, height: side + 3) { x, y in
            x < grid.width && y < grid.height && grid.dark[y * grid.width + x]
        }
        for format in Self.formats {
            #expect(try QRScanner.scan(format.file(other)).map(\.bytes) == [Self.payload], "\(format.name)")
        }
    }

    @Test("Cut off at every hundredth, it is read as far as it goes or refused", arguments: formats)
    func truncated(_ format: Format) throws {
        let file = try Self.file(format)
        var codes: Set<QRCodecError.Code> = []
        for hundredth in 0..<100 {
            let length = max(1, file.count * hundredth / 100)
            do throws(QRCodecError) {
                let found = try QRScanner.scan(Array(file[..<length]))
                #expect(found.map(\.bytes) == [Self.payload], "nothing found in \(length) bytes, and no error")
            } catch {
                codes.insert(error.code)
                #expect([.truncated, .corrupt, .unsupportedFormat].contains(error.code), "\(length): \(error)")
            }
        }
        #expect(codes.contains(.truncated), "\(codes)")
    }

    @Test("Changed bytes never crash the decoder, and what is read is never wrong", arguments: formats)
    func mutated(_ format: Format) throws {
        let file = try Self.file(format)
        var mutator = Mutator(file, seed: 11)
        var outcomes: [String: Int] = [:]
        for _ in 0..<200 {
            let mutant = mutator.next()
            do throws(QRCodecError) {
                let found = try QRScanner.scan(mutant, limits: ImageLimits(maxPixels: 2_000_000))
                #expect(found.allSatisfy { $0.bytes == Self.payload })
                outcomes[found.isEmpty ? "none" : "found", default: 0] += 1
            } catch {
                outcomes[error.code.description, default: 0] += 1
            }
        }
        #expect(outcomes["found"] != nil && outcomes.count > 1, "\(outcomes)")
    }

    struct Claim: Sendable, CustomTestStringConvertible {
        var name: String
        var file: @Sendable () throws -> [UInt8]
        var testDescription: String { name }

        init(name: String, file: @escaping @Sendable () throws -> [UInt8]) { (self.name, self.file) = (name, file) }
    }

    static let claims: [Claim] = [
        // Fourteen bits a side, behind what begins a key frame (RFC 6386, 9.1), and behind the signature of lossless.
        Claim(name: "WebP, lossy") { Self.patched(try small.webp(isLossy: true), 26, [0xFF, 0x3F, 0xFF, 0x3F]) },
        Claim(name: "WebP, lossless") { Self.patched(try small.webp(isLossy: false), 21, [0xFF, 0xFF, 0xFF, 0x0F]) },
        Claim(name: "HEIC") { try HEICFile.claiming(20_000, 20_000, in: small.heic()) },
    ]
    private static let small = PixelGrid(width: 40, height: 40) { x, _ in x % 2 == 0 }

    private static func patched(_ file: [UInt8], _ place: Int, _ bytes: [UInt8]) -> [UInt8] {
        var file = file
        file.replaceSubrange(place..<place + bytes.count, with: bytes)
        return file
    }

    @Test("A claim of more pixels than are read is refused from the header", arguments: claims)
    func huge(_ claim: Claim) throws {
        let file = try claim.file()
        let error = #expect(throws: QRCodecError.self) { try QRScanner.scan(file) }
        #expect(error?.code == .tooLarge, "\(error?.message ?? "")")
        #expect(error?.message.contains("\u{D7}") == true)
    }

    @Test("The caller's limits hold", arguments: formats)
    func limits(_ format: Format) throws {
        let file = try Self.file(format)
        let side = 29 * 4
        let error = #expect(throws: QRCodecError.self) {
            try QRScanner.scan(file, limits: ImageLimits(maxPixels: side * side - 1))
        }
        #expect(error?.code == .tooLarge)
        #expect(try QRScanner.scan(file, limits: ImageLimits(maxPixels: side * side)).count == 1)
    }
}
