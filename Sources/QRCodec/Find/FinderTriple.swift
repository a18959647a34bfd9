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

    /// The version that a symbol with patterns so far apart is of; 40 or less, perhaps 0.
    var version: Int { min(Int(((distance + 7 - 17) / 4).rounded()), 40) }

    /// Of how many patterns triples are made: those that most lines crossed.
    private static let mostPatterns = 20
    /// Modules between the patterns of the smallest and of the largest symbol, with slack for what is measured wrongly.
    private static let distances = 11.0...190.0
    /// The same, measured by the mean width of a module, which a slanting view makes larger than that along a line.
    private static let roughDistances = 4.0...250.0

    /// Returns the triples of a level's patterns that can be those of one symbol, the likeliest first.
    static func all(of patterns: [FinderPattern], in level: Level) -> [FinderTriple] {
        var found: [FinderTriple] = []
        for isNegative in [false, true] {
            let likely = Array(
                patterns.filter { $0.isNegative == isNegative }.sorted { $0.hits > $1.hits }.prefix(mostPatterns)
            )
            guard likely.count >= 3 else { continue }
            let lines = Lines(between: likely, in: level)
            for corner in likely.indices {
                for right in likely.indices {
                    guard let columns = lines.modules[corner * likely.count + right] else { continue }
                    for below in likely.indices {
                        guard let rows = lines.modules[corner * likely.count + below] else { continue }
                        let triple = FinderTriple(
                            (likely[corner], likely[right], likely[below]),
                            columns: columns,
                            rows: rows,
                            in: level
                        )
                        if let triple { found.append(triple) }
                    }
                }
            }
        }
        return found.sorted { $0.oddity < $1.oddity }
    }

    private init?(
        _ patterns: (FinderPattern, FinderPattern, FinderPattern),
        columns: Double,
        rows: Double,
        in level: Level
    ) {
        (corner, right, below) = patterns
        distance = (columns + rows) / 2
        guard max(columns, rows) < 1.4 * min(columns, rows) else { return nil }
        let (across, down) = (right.centre - corner.centre, below.centre - corner.centre)
        // Clockwise, and not in a line. This leaves out a pattern beside itself, too.
        guard across.cross(down) > 0.2 * across.length * down.length else { return nil }
        let least = min(corner.module, right.module, below.module)
        let most = max(corner.module, right.module, below.module)
        guard most < 2.5 * least else { return nil }
        oddity = abs(columns - rows) / distance * 2 + most / least - 1
        // In a square, the diagonals' ends lie as far out, measured by its sides, as the sides themselves. What is only
        // sheared like one differs here.
        for diagonal in [across / columns + down / rows, across / columns - down / rows] {
            guard let width = level.width(of: corner, towards: diagonal) else { return nil }
            let ratio = width / diagonal.length / 7
            guard (0.6...1.5).contains(ratio) else { return nil }
            oddity += abs(ratio - 1)
        }
    }

    /// The patterns as each lies by itself, the corner's first, in a level so many times as large; `nil` where one is
    /// none.
    func fits(in level: Level, scale: Double) -> [FinderFit]? {
        let (across, down) = ((right.centre - corner.centre) / distance, (below.centre - corner.centre) / distance)
        var fits: [FinderFit] = []
        for pattern in [corner, right, below] {
            // Seen in perspective, a pattern's own modules are larger or smaller than the mean of the line.
            let size = pattern.module / abs(across.cross(down)).squareRoot()
            let fit = FinderFit(
                centre: pattern.centre * scale,
                across: across * (size * scale),
                down: down * (size * scale),
                in: level,
                isNegative: pattern.isNegative
            )
            guard let fit else { return nil }
            fits.append(fit)
        }
        return fits
    }

    /// How many modules apart patterns are, two by two.
    private struct Lines {
        /// For every two patterns by `first * count + second`; `nil` where they cannot be of one symbol.
        var modules: [Double?]

        init(between patterns: [FinderPattern], in level: Level) {
            let count = patterns.count
            modules = Array(repeating: nil, count: count * count)
            for (first, start) in patterns.enumerated() {
                for (second, end) in patterns.enumerated().dropFirst(first + 1) {
                    let line = end.centre - start.centre
                    let mean = (start.module + end.module) / 2
                    guard FinderTriple.roughDistances.contains(line.length / mean),
                        let startWidth = level.width(of: start, towards: line),
                        let endWidth = level.width(of: end, towards: line)
                    else { continue }
                    // Seen in perspective, the mean module of a line is the geometric mean of those at its ends.
                    let distance = line.length / ((startWidth * endWidth).squareRoot() / 7)
                    guard FinderTriple.distances.contains(distance) else { continue }
                    modules[first * count + second] = distance
                    modules[second * count + first] = distance
                }
            }
        }
    }
}

/// Three finder patterns that look like those of one symbol, in pixels of the picture.
package struct SymbolCandidate: Sendable, Hashable {
    /// The column half way between the outer two patterns: about the symbol's middle.
    package var x: Double
    /// The row of the same place, from the top.
    package var y: Double
    /// The mean width of a module.
    package var module: Double
    /// Modules along a side, as far as the patterns tell.
    package var size: Double

    init(_ triple: FinderTriple, scale: Int) {
        let middle = (triple.right.centre + triple.below.centre) / 2 * Double(scale)
        (x, y) = (middle.x, middle.y)
        module = (triple.corner.module + triple.right.module + triple.below.module) / 3 * Double(scale)
        size = triple.distance + 7
    }

    init(x: Double, y: Double, module: Double, size: Double) {
        (self.x, self.y, self.module, self.size) = (x, y, module, size)
    }
}
