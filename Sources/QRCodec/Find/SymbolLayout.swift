/// The modules of a symbol that are the same in all symbols of its version (ISO/IEC 18004, 6.3).
struct SymbolLayout: Sendable {
    static let versions = 1...40
    /// Light modules that the standard wants on each side.
    static let quietZone = 4
    let version: Int
    /// Modules along a side.
    let size: Int
    /// Row by row what each module is.
    private(set) var modules: [Module]
    /// Modules that are known and tell where the grid lies: those of finder, timing and alignment patterns.
    private(set) var landmarks: [Landmark] = []
    /// The middles of the alignment patterns.
    private(set) var alignmentCentres: [(x: Double, y: Double)] = []
    /// Those of the timing patterns alone.
    private(set) var timing: [Landmark] = []

    enum Module {
        case data
        case light
        case dark
        /// Part of the format information, which says the mask and the error correction.
        case format
    }

    struct Landmark: Sendable {
        /// The module's middle.
        var u: Double
        var v: Double
        /// 1 for dark, -1 for light.
        var ink: Double
    }

    init(version: Int) {
        self.version = version
        size = 17 + 4 * version
        modules = Array(repeating: .data, count: size * size)
        drawTiming()
        drawAlignment()
        drawFinders()
        drawFormat()
        drawVersion()
    }

    private mutating func set(_ x: Int, _ y: Int, dark: Bool, isLandmark: Bool = true) {
        modules[y * size + x] = dark ? .dark : .light
        if isLandmark {
            landmarks.append(Landmark(u: Double(x) + 0.5, v: Double(y) + 0.5, ink: dark ? 1 : -1))
        }
    }

    /// The rows and columns in which alignment patterns have their centres.
    ///
    /// Annex E, as a rule: evenly spaced from the end, the odd space at the start; version 32 is an exception.
    func alignmentLines() -> [Int] {
        guard version > 1 else { return [] }
        let count = version / 7 + 2
        let step = version == 32 ? 26 : (version * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<count - 1).map { size - 7 - $0 * step }.reversed()
    }

    private mutating func drawTiming() {
        for place in 8..<size - 8 {
            set(place, 6, dark: place % 2 == 0)
            set(6, place, dark: place % 2 == 0)
        }
        timing = landmarks
    }

    private mutating func drawAlignment() {
        let centres = alignmentLines()
        for row in centres {
            for column in centres {
                let isFinder = (row == 6 && (column == 6 || column == size - 7)) || (row == size - 7 && column == 6)
                guard !isFinder else { continue }
                alignmentCentres.append((Double(column) + 0.5, Double(row) + 0.5))
                for y in -2...2 {
                    for x in -2...2 { set(column + x, row + y, dark: max(abs(x), abs(y)) != 1) }
                }
            }
        }
    }

    private mutating func drawFinders() {
        for (left, top) in [(0, 0), (size - 7, 0), (0, size - 7)] {
            for y in max(0, top - 1)..<min(size, top + 8) {
                for x in max(0, left - 1)..<min(size, left + 8) {
                    let ring = max(abs(x - left - 3), abs(y - top - 3))
                    set(x, y, dark: ring != 2 && ring != 4)
                }
            }
        }
    }

    private mutating func drawFormat() {
        for copy in 0...1 {
            for bit in 0..<15 {
                let (x, y) = formatPlace(bit: bit, copy: copy)
                modules[y * size + x] = .format
            }
        }
        set(8, size - 8, dark: true, isLandmark: false)
    }

    /// Returns the module of a bit of the format information; bit 0 is the lowest (ISO/IEC 18004, 7.9).
    func formatPlace(bit: Int, copy: Int) -> (x: Int, y: Int) {
        if copy == 0 {
            return switch bit {
            case 0...5: (8, bit)
            case 6: (8, 7)
            case 7: (8, 8)
            case 8: (7, 8)
            default: (14 - bit, 8)
            }
        }
        return bit < 8 ? (size - 1 - bit, 8) : (8, size - 15 + bit)
    }

    private mutating func drawVersion() {
        guard version >= 7 else { return }
        let bits = Self.versionWord(version)
        for bit in 0..<18 {
            let (near, far) = (bit / 3, size - 11 + bit % 3)
            let isDark = bits >> bit & 1 == 1
            set(far, near, dark: isDark, isLandmark: false)
            set(near, far, dark: isDark, isLandmark: false)
        }
    }

    /// ISO/IEC 18004, 7.10: six bits of version and twelve of a Golay code, which is drawn twice.
    static func versionWord(_ version: Int) -> Int {
        var remainder = version
        for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11) * 0x1F25 }
        return version << 12 | remainder
    }
}

/// The format information: two bits of error correction level, three of mask, ten of a BCH code.
enum SymbolFormat {
    /// All 32 words as they are drawn.
    static let words: [UInt16] = (0..<32).map { data in
        var remainder = data
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
        return UInt16((data << 10 | remainder) ^ 0x5412)
    }

    /// The word that is nearest to what was read, and in how many bits it differs.
    static func nearest(_ read: UInt16) -> (word: UInt16, errors: Int) {
        let nearest = words.min { ($0 ^ read).nonzeroBitCount < ($1 ^ read).nonzeroBitCount } ?? 0
        return (nearest, (nearest ^ read).nonzeroBitCount)
    }
}

/// The layouts of the versions that were asked for.
final class SymbolLayouts {
    private var made: [Int: SymbolLayout] = [:]

    func of(version: Int) -> SymbolLayout {
        if let layout = made[version] { return layout }
        let layout = SymbolLayout(version: version)
        made[version] = layout
        return layout
    }
}
