import CTurboJPEG
import Glibc
import QRCodec
import SeededNumbers
import Testing

@Suite("Pictures as people take them", .onOwnThread)
struct PictureTests {
    private static let payload = Array(Samples.good.utf8)

    /// Troubles of a grade from 1 to 5, drawn from a seed.
    private static func picture(grade: Int, seed: UInt64) throws -> QRImage {
        var generator = SeededGenerator(seed: seed &* 5 &+ UInt64(grade))
        let hard = Double(grade - 1) / 4
        var photograph = Photograph(try QRSymbol(bytes: payload), width: 640, height: 480)
        photograph.module = 4.2 - 1.6 * hard
        photograph.rotation = Double.random(in: -3...3, using: &generator)
        photograph.tilt = Double.random(in: 0...0.2 + 0.5 * hard, using: &generator)
        photograph.direction = Double.random(in: 0...6, using: &generator)
        photograph.contrast = 1 - 0.6 * hard
        photograph.slope = 0.5 * hard
        photograph.noise = Int(4 + 10 * hard)
        photograph.isNegative = grade == 3
        return photograph.image(using: &generator)
    }

    @Test("Turned, tilted, dim, unevenly lit and noisy, of five grades", arguments: 1...5, 0..<6 as Range<UInt64>)
    func graded(grade: Int, seed: UInt64) throws {
        let found = try QRScanner.scan(Self.picture(grade: grade, seed: seed))
        #expect(found.map(\.bytes) == [Self.payload])
        #expect(found.first?.corners.count == 4)
    }

    enum Trouble: CaseIterable {
        case blur
        case glare
        case moire
        case clutter
    }

    @Test("Blurred, in a lamp's light, of a screen's grid, among other things, of five grades", arguments: 1...5)
    func troubled(grade: Int) throws {
        for trouble in Trouble.allCases {
            var generator = SeededGenerator(seed: UInt64(grade))
            var photograph = Photograph(try QRSymbol(bytes: Self.payload), width: 640, height: 480)
            photograph.rotation = Double.random(in: -3...3, using: &generator)
            (photograph.tilt, photograph.contrast, photograph.slope, photograph.noise) = (0.3, 0.8, 0.2, 6)
            let step = Double(grade)
            switch trouble {
            case .blur: (photograph.blur, photograph.module) = (0.2 * step, 6)
            case .glare: photograph.glare = 0.4 * step
            case .moire: photograph.moire = 0.08 * step
            case .clutter: photograph.clutter = 50 * grade
            }
            let found = try QRScanner.scan(photograph.image(using: &generator))
            #expect(found.map(\.bytes) == [Self.payload], "\(trouble) of grade \(grade)")
        }
    }

    @Test("In all eight ways that a camera may say it was held, mirrored ones too", arguments: 1...8)
    func orientations(_ orientation: Int) throws {
        let grid = try PixelGrid(QRSymbol(bytes: Self.payload), scale: 3)
        let last = grid.width - 1
        let held = PixelGrid(width: grid.width, height: grid.height) { x, y in
            let (u, v) = orientation > 4 ? (y, x) : (x, y)
            let isFlippedAcross = [2, 3, 7, 8].contains(orientation)
            let isFlippedDown = [3, 4, 6, 7].contains(orientation)
            return grid.dark[(isFlippedDown ? last - v : v) * grid.width + (isFlippedAcross ? last - u : u)]
        }
        // With the tag that says so (TIFF's orientation, in an Exif segment) or without.
        let plain = try JPEGTests.file(held)
        let tiff: [UInt8] = [
            0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0,
        ]
        let segment = Array("Exif\0\0".utf8) + tiff + [0, 0, 0, 0]
        let tagged = plain[..<2] + [0xFF, 0xE1, 0, UInt8(segment.count + 2)] + segment + plain[2...]
        for file in [plain, Array(tagged)] {
            #expect(try QRScanner.scan(file).map(\.bytes) == [Self.payload])
        }
    }

    /// Symbols beside one another, each in its own size.
    private static func beside(_ payloads: [[UInt8]], scales: [Int]) throws -> QRImage {
        let grids = try zip(payloads, scales).map { PixelGrid(try QRSymbol(bytes: $0), scale: $1) }
        let height = grids.map(\.height).max() ?? 0
        var columns: [(grid: PixelGrid, x: Int)] = []
        for grid in grids { columns += (0..<grid.width).map { (grid, $0) } }
        return PixelGrid(width: columns.count, height: height) { x, y in
            let (grid, column) = columns[x]
            return y < grid.height && grid.dark[y * grid.width + column]
        }
        .image
    }

    @Test(
        "A wanted symbol is found among others, whatever their sizes",
        arguments: [[9, 2], [2, 9], [3, 3], [14, 1]]
    )
    func among(scales: [Int]) throws {
        let (other, wanted) = (Array("https://example.org/".utf8), Array("ours".utf8))
        for payloads in [[other, wanted], [wanted, other]] {
            let found = try QRScanner.scan(Self.beside(payloads, scales: scales)) { $0 == wanted }
            #expect(found.contains { $0.bytes == wanted }, "\(found.map(\.text))")
        }
    }

    @Test(
        "Two wanted symbols are both found, of much the same size and of very different ones",
        arguments: [[5, 4], [9, 2], [14, 2], [16, 3], [20, 2], [40, 3]]
    )
    func both(scales: [Int]) throws {
        let payloads = [Samples.good, Samples.expired].map { Array($0.utf8) }
        for scales in [scales, scales.reversed()] {
            let found = try QRScanner.scan(Self.beside(payloads, scales: scales))
            #expect(Set(found.map(\.bytes)) == Set(payloads), "\(scales)")
        }
    }

    @Test("The search goes on until the caller is content")
    func content() throws {
        var asked: [[UInt8]] = []
        let image = try Self.beside([Array("only".utf8)], scales: [4])
        let found = try QRScanner.scan(image) {
            asked.append($0)
            return false
        }
        #expect(found.map(\.bytes) == [Array("only".utf8)])
        #expect(asked.count > 1 && Set(asked).count == 1)
    }

    @Test("A picture of nothing but finder patterns holds nothing", .timeLimit(.minutes(15)))
    func finders() throws {
        let image = PixelGrid(width: 1_200, height: 900) { x, y in
            let ring = max(abs(x / 2 % 10 - 4), abs(y / 2 % 10 - 4))
            return ring <= 3 && ring != 2
        }
        .image
        #expect(try QRScanner.scan(image).isEmpty)
    }
}
