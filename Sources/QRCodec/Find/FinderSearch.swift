import Glibc

/// Finds finder patterns: along any line through the middle of one, dark and light are 1 : 1 : 3 : 1 : 1 modules wide.
struct FinderSearch {
    private let level: Level
    private let dark: UnsafeMutablePointer<UInt8>
    private(set) var found: [FinderPattern] = []
    /// Patterns after which no more are looked for: a picture of nothing but patterns is not one of a symbol.
    private static let most = 200
    /// The rays' directions.
    private static let directions: [Place] = (0..<FinderPattern.rays).map { ray in
        let angle = 2 * Double.pi * Double(ray) / Double(FinderPattern.rays)
        return Place(cos(angle), sin(angle))
    }

    /// The areas in which nothing is looked for.
    private let except: [Quadrilateral]

    init(_ level: Level, except: [Quadrilateral] = []) {
        self.level = level
        self.except = except
        dark = level.dark
    }

    /// Looks along every row, or every `step`th.
    mutating func run(everyRows step: Int) {
        var y = step / 2
        while y < level.height, found.count < Self.most {
            scanRow(y)
            y += step
        }
    }

    private mutating func scanRow(_ y: Int) {
        let row = UnsafeRawPointer(dark + y * level.width)
        let width = level.width
        var (a, b, c, d) = (0, 0, 0, 0)
        var start = 0
        var current = row.load(as: UInt8.self)
        var x = 1
        while x <= width {
            // Eight pixels of the same colour at a time.
            let same = current == 0 ? 0 : 0x0101_0101_0101_0101 as UInt64
            while x + 8 <= width {
                let difference = row.loadUnaligned(fromByteOffset: x, as: UInt64.self) ^ same
                if difference == 0 {
                    x += 8
                } else {
                    x += difference.trailingZeroBitCount >> 3
                    break
                }
            }
            if x < width, row.load(fromByteOffset: x, as: UInt8.self) == current {
                x += 1
                continue
            }
            let run = x - start
            if Self.isPattern(a, b, c, d, run) {
                let middle = Double(x - run - d) - Double(c) / 2
                // The last run has the ring's colour, which is the ink's.
                check(x: middle, y: Double(y) + 0.5, total: a + b + c + d + run, isNegative: current == 0)
            }
            (a, b, c, d) = (b, c, d, run)
            start = x
            current ^= 1
            x += 1
        }
    }

    /// Whether five runs are 1 : 1 : 3 : 1 : 1, give or take what blur and few pixels do to them.
    @inline(__always)
    private static func isPattern(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int) -> Bool {
        // The first tests settle nearly all.
        guard c >= 2, c > b, c > d, a > 0, b > 0 else { return false }
        let total = a + b + c + d + e
        guard total >= 7 else { return false }
        // In sevenths: a module is `total`.
        let slack = total * 6 / 10 + 4
        return abs(7 * b - total) < slack && abs(7 * d - total) < slack && abs(7 * c - 3 * total) < 2 * slack
            && abs(7 * a - total) < slack + total / 4 && abs(7 * e - total) < slack + total / 4
    }

    private mutating func check(x: Double, y: Double, total: Int, isNegative: Bool) {
        guard !except.contains(where: { $0.contains(Place(x, y)) }) else { return }
        let module = Double(total) / 7
        for index in found.indices where found[index].isNegative == isNegative {
            let away = found[index].centre - Place(x, y)
            if abs(away.x) < 2 * found[index].module, abs(away.y) < 3 * found[index].module {
                found[index].hits += 1
                return
            }
        }
        // The row may have crossed the core near its edge: up and down, then left and right, to the core's middle.
        guard
            let vertical = crossing(x: Int(x), y: Int(y), isVertical: true, isNegative: isNegative, within: 8 * module),
            let horizontal = crossing(
                x: Int(x),
                y: Int(vertical.middle),
                isVertical: false,
                isNegative: isNegative,
                within: 8 * module
            )
        else { return }
        let centre = Place(horizontal.middle, vertical.middle)
        measure(centre, module: max(module, horizontal.module, vertical.module), isNegative: isNegative)
    }

    /// Returns the middle of the core on a line through it, and the width of a module along the line; `nil` if the line
    /// does not cross a finder pattern.
    private func crossing(
        x: Int,
        y: Int,
        isVertical: Bool,
        isNegative: Bool,
        within limit: Double
    ) -> (middle: Double, module: Double)? {
        let ink: UInt8 = isNegative ? 0 : 1
        let step = isVertical ? level.width : 1
        let (place, end) = isVertical ? (y, level.height) : (x, level.width)
        let start = y * level.width + x
        let most = Int(limit)
        guard x >= 0, y >= 0, x < level.width, y < level.height, dark[start] == ink else { return nil }
        func run(from offset: Int, by direction: Int, of colour: UInt8) -> Int {
            var length = 0
            var at = offset
            while length <= most, place + at >= 0, place + at < end, dark[start + at * step] == colour {
                length += 1
                at += direction
            }
            return length
        }
        let (before, after) = (run(from: -1, by: -1, of: ink), run(from: 1, by: 1, of: ink))
        let core = before + after + 1
        guard core >= 2, core <= most else { return nil }
        let gapBefore = run(from: -before - 1, by: -1, of: ink ^ 1)
        let ringBefore = run(from: -before - gapBefore - 1, by: -1, of: ink)
        let gapAfter = run(from: after + 1, by: 1, of: ink ^ 1)
        let ringAfter = run(from: after + gapAfter + 1, by: 1, of: ink)
        guard Self.isPattern(ringBefore, gapBefore, core, gapAfter, ringAfter) else { return nil }
        let total = ringBefore + gapBefore + core + gapAfter + ringAfter
        return (Double(place - before) + Double(core) / 2, Double(total) / 7)
    }

    /// Follows rays from the centre outwards and keeps what looks like a finder pattern in nearly all directions.
    private mutating func measure(_ guess: Place, module: Double, isNegative: Bool) {
        var centre = guess
        let limit = 8 * module + 4
        for attempt in 0..<2 {
            var reached: [Place?] = []
            var lost = 0
            for direction in Self.directions {
                let edge = level.outerEdge(from: centre, towards: direction, isNegative: isNegative, within: limit)
                reached.append(edge.map { direction * $0 })
                if edge == nil { lost += 1 }
                guard lost <= FinderPattern.rays * 5 / 16 else { return }
            }
            // Where a ray is lost, its opposite stands for it.
            let half = FinderPattern.rays / 2
            let edges = reached.indices.map { ray in
                reached[ray] ?? reached[(ray + half) % FinderPattern.rays].map { -$0 } ?? .zero
            }
            var (area, moment) = (0.0, Place.zero)
            for (edge, next) in zip(edges, edges.dropFirst() + edges.prefix(1)) {
                let part = edge.cross(next)
                area += part / 2
                moment += part * (edge + next) / 6
            }
            guard area > 20 else { return }
            centre += moment / area
            if attempt == 1 {
                let pattern = FinderPattern(
                    centre: centre,
                    module: area.squareRoot() / 7,
                    hits: 1,
                    isNegative: isNegative
                )
                keep(pattern)
            }
        }
    }

    private mutating func keep(_ pattern: FinderPattern) {
        let isKnown = found.contains {
            $0.isNegative == pattern.isNegative && ($0.centre - pattern.centre).length < 2 * pattern.module
        }
        if !isKnown { found.append(pattern) }
    }
}
