/// How one finder pattern lies in the picture, measured by itself: near it, the symbol's grid is known whatever the
/// paper does further away.
struct FinderFit {
    /// The pattern's centre, in pixels of the level.
    private(set) var centre: Place
    /// From one module to the next one to the right and to the next one below, in pixels.
    private(set) var across: Place
    private(set) var down: Place
    /// How well the pattern agrees: 1 for all of it, 0 for chance.
    private(set) var agreement = 0.0

    private let level: Level
    private let isNegative: Bool

    /// Agreement below which it is no finder pattern, before and after it was fitted.
    private static let (leastAtFirst, least) = (0.1, 0.2)

    /// Fits a pattern, beginning with what is known of it; `nil` where there is none.
    init?(centre: Place, across: Place, down: Place, in level: Level, isNegative: Bool) {
        (self.centre, self.across, self.down) = (centre, across, down)
        (self.level, self.isNegative) = (level, isNegative)
        agreement = measured()
        guard agreement > Self.leastAtFirst else { return nil }
        var step = 0.2
        while step > 0.02 {
            if !improve(step) { step /= 2 }
        }
        guard agreement > Self.least else { return nil }
    }

    /// The place of a point so many modules from the centre.
    func callAsFunction(_ x: Double, _ y: Double) -> Place { centre + across * x + down * y }

    /// Whether a move by a share of a module, of the whole or of an edge against the centre, agrees better.
    private mutating func improve(_ step: Double) -> Bool {
        var improved = false
        let axes = [across * step, across * -step, down * step, down * -step]
        for part in 0..<3 {
            for axis in axes {
                var next = self
                switch part {
                case 0: next.centre += axis
                // The pattern's edge is 3.5 modules out.
                case 1: next.across += axis / 3.5
                default: next.down += axis / 3.5
                }
                next.agreement = next.measured()
                if next.agreement > agreement + 1e-8 { (self, improved) = (next, true) }
            }
        }
        return improved
    }

    private func measured() -> Double {
        let (middle, contrast) = (level.middle, level.contrast)
        var sum = 0.0
        // Beyond the ring it is light, inside the symbol and outside, unless there is no quiet zone.
        for y in -4...4 {
            for x in -4...4 {
                let ring = max(abs(x), abs(y))
                let ink = ring == 2 || ring == 4 ? -1.0 : 1
                let weight = ring == 4 ? 0.5 : 1
                for (right, lower) in [(-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25)] {
                    let place = self(Double(x) + right, Double(y) + lower)
                    guard let shade = level.shade(at: place) else { continue }
                    let block = level.block(Int(place.x), Int(place.y))
                    let depth = (Double(middle[block]) - shade) / Double(contrast[block])
                    sum += min(max(depth * 1.5, -1), 1) * ink * weight
                }
            }
        }
        // 49 modules of the pattern and half of each of the 32 around it, in four places each.
        return sum / (4 * (49 + 16)) * (isNegative ? -1 : 1)
    }

    // MARK: The version

    /// Bits of a copy of the version that may be wrong: those that its code corrects.
    private static let mostVersionErrors = 3

    /// The version that is written beside two patterns of symbols from version 7 on (ISO/IEC 18004, 7.10); `nil` where
    /// neither copy can be read, or where it is far from a guess.
    static func version(right: FinderFit, below: FinderFit, near guess: Int) -> Int? {
        let copies = [
            right.word { Place(Double($0 % 3 - 7), Double($0 / 3 - 3)) },
            below.word { Place(Double($0 / 3 - 3), Double($0 % 3 - 7)) },
        ]
        var best: (version: Int, errors: Int)?
        for version in 7...40 where abs(version - guess) <= 2 + guess / 5 {
            let word = SymbolLayout.versionWord(version)
            for copy in copies {
                let errors = (copy ^ word).nonzeroBitCount
                if errors < best?.errors ?? (mostVersionErrors + 1) { best = (version, errors) }
            }
        }
        return best?.version
    }

    private func word(_ place: (Int) -> Place) -> Int {
        var word = 0
        for bit in 0..<18 {
            let at = place(bit)
            let pixel = self(at.x, at.y)
            guard let shade = level.shade(at: pixel) else { continue }
            let isDark = shade < Double(level.middle[level.block(Int(pixel.x), Int(pixel.y))])
            if isDark != isNegative { word |= 1 << bit }
        }
        return word
    }
}
