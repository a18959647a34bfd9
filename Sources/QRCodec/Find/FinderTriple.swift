/// Three finder patterns that may belong to one symbol.
struct FinderTriple {
    /// The pattern between the two others.
    var corner: FinderPattern
    /// The next one clockwise.
    var right: FinderPattern
    var below: FinderPattern
    /// Modules from the centre of one pattern to the next, as far as their widths tell.
    var distance: Double
    /// How far from a symbol's shape they are; smaller is better.
    var oddity: Double

    /// Of how many patterns triples are made: those that most lines crossed.
    private static let mostPatterns = 20
    /// Modules between the patterns of the smallest and of the largest symbol, with slack for what is measured wrongly.
    private static let distances = 11.0...190.0

    /// What patterns of a level make symbols, the likeliest first.
    static func all(of patterns: [FinderPattern], in level: Level) -> [FinderTriple] {
        var found: [FinderTriple] = []
        for isNegative in [false, true] {
            let likely = patterns.filter { $0.isNegative == isNegative }.sorted { $0.hits > $1.hits }
                .prefix(mostPatterns)
            for corner in likely {
                for right in likely {
                    for below in likely {
                        if let triple = FinderTriple(corner, right, below, in: level) { found.append(triple) }
                    }
                }
            }
        }
        return found.sorted { $0.oddity < $1.oddity }
    }

    private init?(_ corner: FinderPattern, _ right: FinderPattern, _ below: FinderPattern, in level: Level) {
        let (across, down) = (right.centre - corner.centre, below.centre - corner.centre)
        let area = across.cross(down)
        // Clockwise, and not in a line. This leaves out a pattern beside itself, too.
        guard area > 0.2 * across.length * down.length, area > 0 else { return nil }
        let modules = [corner.module, right.module, below.module]
        guard let least = modules.min(), let most = modules.max(), most < 2.5 * least else { return nil }
        let span = area.squareRoot() / (modules.reduce(0, +) / 3)
        guard Self.distances.contains(span) else { return nil }
        guard let acrossEnds = Self.modules(from: corner, to: right, in: level),
            let downEnds = Self.modules(from: corner, to: below, in: level)
        else { return nil }
        // Seen in perspective, the mean module of a line is the geometric mean of those at its ends.
        let columns = across.length / acrossEnds.squareRoot()
        let rows = down.length / downEnds.squareRoot()
        let mean = (columns + rows) / 2
        guard Self.distances.contains(mean), max(columns, rows) < 1.4 * min(columns, rows) else { return nil }
        // In a square, the diagonals' ends lie as far out, measured by its sides, as the sides themselves. What is only
        // sheared like one differs here.
        var oddity = abs(columns - rows) / mean * 2 + most / least - 1
        for diagonal in [across / columns + down / rows, across / columns - down / rows] {
            guard let edge = Self.width(of: corner, towards: diagonal, in: level) else { return nil }
            let ratio = edge / diagonal.length / 7
            guard (0.6...1.5).contains(ratio) else { return nil }
            oddity += abs(ratio - 1)
        }
        self.corner = corner
        self.right = right
        self.below = below
        self.distance = mean
        self.oddity = oddity
    }

    /// The product of the widths of a module at two patterns, measured along the line between them.
    private static func modules(from start: FinderPattern, to end: FinderPattern, in level: Level) -> Double? {
        let line = end.centre - start.centre
        guard let first = width(of: start, towards: line, in: level),
            let second = width(of: end, towards: line, in: level)
        else { return nil }
        return first * second / 49
    }

    /// How wide a pattern is along a line through its centre.
    private static func width(of pattern: FinderPattern, towards line: Place, in level: Level) -> Double? {
        let direction = line / line.length
        let (limit, isNegative) = (8 * pattern.module + 4, pattern.isNegative)
        let ahead = level.outerEdge(from: pattern.centre, towards: direction, isNegative: isNegative, within: limit)
        let behind = level.outerEdge(from: pattern.centre, towards: -direction, isNegative: isNegative, within: limit)
        switch (ahead, behind) {
        case (let ahead?, let behind?): return ahead + behind
        case (let one?, nil), (nil, let one?): return 2 * one
        case (nil, nil): return nil
        }
    }
}
