/// Looks for QR codes by their finder patterns, at one size of a picture after another, and reads each from a clean
/// drawing made of its modules.
struct SymbolSearch: ~Copyable {
    private let reader: ZBarScanner
    private let layouts = SymbolLayouts()
    /// How much is taken out of what blur spread, least first.
    private static let sharpenings: [Float] = [0, 0.7, 1.5]

    private let effort: SearchEffort
    /// Modules that may still be looked for on bent paper.
    private var bentModules: Int
    /// The centres of the three finder patterns of each symbol that was looked for on bent paper, once for each try.
    private var triedBent: [[Place]] = []
    private var levels: [Level]
    private(set) var found: [ScannedSymbol] = []
    /// Of what looked like a symbol, the likeliest, whether or not it could be read.
    private(set) var candidate: SymbolCandidate?

    /// The longest side, in pixels, of the level that is looked at first.
    private static let firstSide = 1_200
    /// Modules along the side of the smallest symbol.
    private static let fewestModules = 21
    /// The longest side of a level that is not halved any more: there even the smallest symbol that fills it has finder
    /// patterns whose cores, of three modules, are smaller than the surroundings that a pixel is judged by.
    private static let smallestSide = fewestModules * ((Level.surroundings - 1) / 3)
    /// Pixels of a level that is looked at after enough was found: in larger ones that takes more time than it is
    /// worth.
    private static let mostGlancedPixels = 1_500_000
    /// How often the same finder patterns are followed: at another size they lie a little elsewhere.
    private static let mostTries = 2
    /// Pixels that a module should have where modules are read: fewer lose detail, more bring noise.
    private static let moduleWidth = 3.0

    init(_ image: QRImage, reader: consuming ZBarScanner, effort: SearchEffort = .picture) {
        self.reader = reader
        self.effort = effort
        bentModules = effort.mostBentModules
        levels = [Level(image)]
    }

    /// The reader, for another search.
    consuming func endedReader() -> ZBarScanner { reader }

    /// Looks at one size after another until what was found is enough, and then at what is next to that size, where
    /// that is no large picture. So of symbols beside one another one is found for certain, and another if its modules
    /// are not much smaller: where the longer side was made 600 to 1,200 pixels long, at least two of them wide, and in
    /// pictures of up to 1.5 megapixels one.
    ///
    /// - Parameter isEnough: Whether a payload is what is looked for.
    mutating func run(until isEnough: ([UInt8]) -> Bool) throws(QRCodecError) {
        let order = order()
        for (position, index) in order.enumerated() {
            try look(at: index, effort: effort)
            guard found.contains(where: { isEnough($0.bytes) }) else { continue }
            guard let glance = effort.neighbours.first else { return }
            // A second one may be too small or too large to be seen here, and who asks should know that there are two.
            for next in order[(position + 1)...] where abs(next - index) == 1 {
                let level = level(next)
                if level.width * level.height <= Self.mostGlancedPixels { try look(at: next, effort: glance) }
            }
            return
        }
        if effort.readsWhole { try readWhole(in: order) }
    }

    /// Lets zbar look for symbols by itself: it finds some whose finder patterns are not seen here. First in the size
    /// that is seen at a glance, then in the next finer one: 2,400 pixels a side at most, along every other line.
    private mutating func readWhole(in order: [Int]) throws(QRCodecError) {
        guard let first = order.first else { return }
        for index in first > 0 ? [first, first - 1] : [0] {
            let level = level(index)
            let shades = UnsafeBufferPointer(start: level.grey, count: level.width * level.height)
            let image = QRImage(width: level.width, height: level.height, luminance: Array(shades))
            let read = try reader.scan(image, everyLines: index < first ? 2 : 1).map { $0.enlarged(by: 1 << index) }
            let new = read.filter { symbol in !found.contains { $0.bytes == symbol.bytes } }
            found += new
            if !new.isEmpty { return }
        }
    }

    /// First a size at which the code is seen at a glance, then finer ones, then coarser ones.
    private func order() -> [Int] {
        let side = max(levels[0].width, levels[0].height)
        let shortSide = min(levels[0].width, levels[0].height)
        guard shortSide >= Self.fewestModules else { return [] }
        var first = 0
        while side >> first > Self.firstSide { first += 1 }
        var last = first
        while side >> last > Self.smallestSide, shortSide >> (last + 1) >= Self.fewestModules { last += 1 }
        return [first] + (0..<first).reversed() + (first..<last).map { $0 + 1 }
    }

    private mutating func level(_ index: Int) -> Level {
        while levels.count <= index { levels.append(levels[levels.count - 1].halved()) }
        return levels[index]
    }

    private mutating func look(at index: Int, effort: SearchEffort) throws(QRCodecError) {
        let level = level(index)
        // What lies in a symbol that was read is part of it.
        var search = FinderSearch(level, except: found.compactMap { $0.area(scale: 1 / Double(1 << index)) })
        search.run(everyRows: max(effort.rows, level.width * level.height > 1_000_000 ? 2 : 1))
        var left = effort.mostFits
        let triples = FinderTriple.all(of: search.found, in: level)
        if candidate == nil { candidate = triples.first.map { SymbolCandidate($0, scale: 1 << index) } }
        triples: for triple in triples.prefix(effort.mostTriples) where left > 0 {
            guard !isRead(triple, at: index) else { continue }
            let sampled = sampleLevel(of: triple, foundAt: index)
            let scale = Double(1 << index) / Double(1 << sampled)
            let fits = GridFit.fits(of: triple, in: self.level(sampled), scale: scale, layouts: layouts)
            var flat: GridFit?
            for var fit in fits.prefix(2) where left > 0 {
                left -= 1
                var symbol = fit.isGood() ? try read(fit) : nil
                if symbol == nil {
                    fit.refine()
                    symbol = try read(fit)
                    if fit.agreement > flat?.agreement ?? 0 { flat = fit }
                }
                if let symbol {
                    found.append(symbol)
                    continue triples
                }
            }
            if let symbol = try readBent(triple, in: self.level(sampled), scale: scale, flat: flat) {
                found.append(symbol)
            }
        }
    }

    /// The level at which a symbol's modules are read: the coarsest at which they are wide enough.
    private func sampleLevel(of triple: FinderTriple, foundAt index: Int) -> Int {
        var module = min(triple.corner.module, triple.right.module, triple.below.module)
        var index = index
        while module < Self.moduleWidth, index > 0 {
            index -= 1
            module *= 2
        }
        while module >= 2 * Self.moduleWidth {
            index += 1
            module /= 2
        }
        return index
    }

    private func isRead(_ triple: FinderTriple, at index: Int) -> Bool {
        found.contains { symbol in
            guard let area = symbol.area(scale: 1 / Double(1 << index)) else { return false }
            return [triple.corner, triple.right, triple.below].contains { area.contains($0.centre) }
        }
    }

    private func read(_ fit: GridFit) throws(QRCodecError) -> ScannedSymbol? {
        guard fit.agreement > 0.3 else { return nil }
        return try read(fit.layout, shades: fit.shades(), corners: fit.corners)
    }

    /// Reads a symbol whose paper is not flat.
    ///
    /// - Parameter flat: What agreed best with it, as if it were.
    private mutating func readBent(
        _ triple: FinderTriple,
        in level: Level,
        scale: Double,
        flat: GridFit?
    ) throws(QRCodecError) -> ScannedSymbol? {
        guard bentModules > 0 else { return nil }
        // Seen at several sizes, it is still the same symbol.
        let whole = scale * Double(1 << level.halvings)
        let centres = [triple.corner, triple.right, triple.below].map { $0.centre * whole }
        let near = triple.corner.module * whole / 2
        let tries = triedBent.count { zip($0, centres).allSatisfy { ($0 - $1).length < near } }
        guard tries < Self.mostTries else { return nil }
        triedBent.append(centres)
        guard let patterns = triple.fits(in: level, scale: scale) else { return nil }
        let written = FinderFit.version(right: patterns[1], below: patterns[2], near: triple.version)
        let version = written ?? flat?.layout.version ?? max(triple.version, 1)
        guard
            let fit = flat?.layout.version == version
                ? flat : GridFit(triple, layout: layouts.of(version: version), in: level, scale: scale)
        else { return nil }
        let modules = fit.layout.size * fit.layout.size
        guard modules <= bentModules else { return nil }
        bentModules -= modules
        let bent = BentGrid(fit, from: patterns)
        return try read(bent.layout, shades: bent.shades(), corners: bent.corners)
    }

    private func read(
        _ layout: SymbolLayout,
        shades: [Float]?,
        corners: [Point]
    ) throws(QRCodecError) -> ScannedSymbol? {
        guard let shades else { return nil }
        let seen = ModuleReader(layout, shades: shades)
        // A window or a camera that shows one's own face mirrors what it shows.
        for modules in [seen, seen.mirrored()] {
            for sharpening in Self.sharpenings {
                guard let drawing = modules.drawing(of: modules.modules(sharpening: sharpening)) else { continue }
                if let symbol = try reader.scan(drawing).first {
                    return ScannedSymbol(bytes: symbol.bytes, corners: corners)
                }
            }
        }
        return nil
    }
}

extension ScannedSymbol {
    /// Returns the symbol's area in the picture made so many times as large; `nil` if its corners are not known.
    fileprivate func area(scale: Double) -> Quadrilateral? {
        guard corners.count == 4 else { return nil }
        let places = corners.map { Place(Double($0.x), Double($0.y)) * scale }
        return Quadrilateral(corners: (places[0], places[1], places[2], places[3]))
    }
}

/// The area between four corners, of which each is followed by its neighbour.
struct Quadrilateral {
    var corners: (Place, Place, Place, Place)

    func contains(_ place: Place) -> Bool {
        let (a, b, c, d) = corners
        let (ab, bc) = ((b - a).cross(place - a), (c - b).cross(place - b))
        let (cd, da) = ((d - c).cross(place - c), (a - d).cross(place - d))
        return ab <= 0 && bc <= 0 && cd <= 0 && da <= 0 || ab >= 0 && bc >= 0 && cd >= 0 && da >= 0
    }
}
