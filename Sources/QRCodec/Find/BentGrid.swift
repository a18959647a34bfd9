/// The places of the modules of a symbol whose paper is not flat: a mesh of nodes laid over a fit by perspective, each
/// of which was moved to where the picture wants it.
///
/// The mesh begins at the finder patterns, which are found for certain, and grows from node to node: where those that
/// are known expect the next one, its surroundings are moved until what is known of them (alignment and timing
/// patterns) agrees, and until data modules, of which only is known that they are dark or light, are neither halfway.
struct BentGrid {
    let layout: SymbolLayout
    private let level: Level
    private let isNegative: Bool
    private let middle: UnsafeMutablePointer<UInt8>
    private let contrast: UnsafeMutablePointer<UInt8>
    private let flat: Perspective
    /// Columns and rows of the nodes, in modules; those of the alignment patterns' centres are among them.
    private let lines: [Double]
    /// How far each node lies from where the perspective takes it, row by row.
    private var shifts: [Place]
    /// The places whose shifts are known, in any order: seeds at the finder patterns and then nodes.
    private var known: [Knot] = []

    /// A place of the symbol whose shift is known.
    private struct Knot {
        var place: Place
        var shift: Place
        var weight: Double
    }

    /// A shift that changes evenly over a neighbourhood.
    private struct Slope {
        var shift = Place.zero
        var across = Place.zero
        var down = Place.zero
    }

    /// Modules between nodes, at most.
    private static let mostSpacing = 6.0
    /// Modules on each side of a node that say where it lies.
    private static let reach = 4
    /// How much a shift of one module beyond what the neighbours expect has to gain.
    private static let stiffness = 0.25
    /// Steps in modules that a node is moved by to each side, and how many.
    private static let wide = [(0.3, 2), (0.12, 1)]
    private static let narrow = [(0.2, 1), (0.08, 1)]
    /// Agreement of an alignment pattern from which it is one.
    private static let certainPattern = 0.65
    /// The weight from which a place is known whatever its neighbours are.
    private static let certain = 1.5
    /// Agreement below which a node's surroundings say nothing.
    private static let leastAgreement = 0.3

    /// The mesh over a fit that need not agree much.
    ///
    /// - Parameter patterns: The symbol's finder patterns: the corner's, the right one, the lower one.
    init(_ fit: GridFit, from patterns: [FinderFit]) {
        layout = fit.layout
        level = fit.level
        (middle, contrast) = (level.middle, level.contrast)
        isNegative = fit.isNegative
        flat = fit.perspective
        lines = Self.lines(of: fit.layout)
        shifts = Array(repeating: .zero, count: lines.count * lines.count)
        let far = Double(layout.size) - 3.5
        for (centre, pattern) in zip([Place(3.5, 3.5), Place(far, 3.5), Place(3.5, far)], patterns) {
            for (x, y) in [(0.0, 0.0), (-3, -3), (3, -3), (-3, 3), (3, 3)] {
                let place = centre + Place(x, y)
                known.append(Knot(place: place, shift: pattern(x, y) - flat(place.x, place.y), weight: 4))
            }
        }
        let seeds = known
        grow()
        // What was followed module by module may have slipped by one. Alignment patterns show it: with those that were
        // found, it is begun anew.
        let tied = known[seeds.count...].filter { isAlignment($0.place) && $0.weight > Self.certain }
        if !tied.isEmpty {
            known = seeds + tied
            grow()
        }
        settle()
    }

    private static func lines(of layout: SymbolLayout) -> [Double] {
        let size = Double(layout.size)
        var centres = layout.alignmentLines().map { Double($0) + 0.5 }
        if centres.isEmpty { centres = [6.5, size - 6.5] }
        var lines = [0.0, 3.5]
        for (start, end) in zip(centres, centres.dropFirst()) {
            let parts = max(1, ((end - start) / mostSpacing).rounded(.up))
            lines += stride(from: 0, to: parts, by: 1).map { start + (end - start) * $0 / parts }
        }
        return lines + [size - 6.5, size - 3.5, size]
    }

    // MARK: Nodes

    /// Goes from nodes that are known to their neighbours until all are.
    private mutating func grow() {
        let count = lines.count
        var isDone = [Bool](repeating: false, count: count * count)
        // How many neighbours of each node are done, of which those at the finder patterns have the most to begin with.
        var votes = [Double](repeating: 0, count: count * count)
        let seeds = known
        for row in 0..<count {
            for column in 0..<count {
                let place = Place(lines[column], lines[row])
                let distance = seeds.map { ($0.place - place).length }.min() ?? 0
                votes[row * count + column] = distance < Self.mostSpacing ? 4 - distance / Self.mostSpacing : 0
            }
        }
        for _ in 0..<count * count {
            var next = -1
            for node in isDone.indices where !isDone[node] && (next < 0 || votes[node] > votes[next]) { next = node }
            let (row, column) = (next / count, next % count)
            let confidence = place(row: row, column: column)
            isDone[next] = true
            for y in max(0, row - 1)...min(count - 1, row + 1) {
                for x in max(0, column - 1)...min(count - 1, column + 1) {
                    votes[y * count + x] += (y == row || x == column ? 1 : 0.5) * confidence
                }
            }
        }
    }

    /// Finds where a node lies, from what is known.
    ///
    /// - Returns: How certain it is.
    private mutating func place(row: Int, column: Int) -> Double {
        let place = Place(lines[column], lines[row])
        if let index = known.firstIndex(where: { $0.place == place && $0.weight > Self.certain }) {
            let knot = known.remove(at: index)
            known.append(knot)
            return knot.weight
        }
        let expected = expectation(at: place)
        if isAlignment(place), let found = alignment(at: place, from: expected) {
            known.append(found)
            return found.weight
        }
        let (slope, agreement) = search(place, from: expected, steps: Self.wide)
        shifts[row * lines.count + column] = slope.shift
        let weight = agreement > Self.leastAgreement ? agreement : 0.1
        known.append(Knot(place: place, shift: slope.shift, weight: weight))
        return weight
    }

    private func isAlignment(_ place: Place) -> Bool {
        layout.alignmentCentres.contains { $0.x == place.x && $0.y == place.y }
    }

    /// Looks for an alignment pattern around the place where it is expected.
    private func alignment(at place: Place, from slope: Slope) -> Knot? {
        let (u, v) = (place.x, place.y)
        let right = flat(u + 0.5, v) - flat(u - 0.5, v) + slope.across
        let down = flat(u, v + 0.5) - flat(u, v - 0.5) + slope.down
        let centre = flat(u, v) + slope.shift
        var best: (score: Double, offset: Place)?
        for (step, reach) in [(0.5, 5), (0.25, 1), (0.12, 1)] {
            let start = best?.offset ?? .zero
            for y in -reach...reach {
                for x in -reach...reach {
                    let offset = start + Place(Double(x), Double(y)) * step
                    var sum = 0.0
                    for row in -2...2 {
                        for column in -2...2 {
                            let at = offset + Place(Double(column), Double(row))
                            let depth = depth(at: centre + right * at.x + down * at.y)
                            sum += max(abs(row), abs(column)) == 1 ? -depth : depth
                        }
                    }
                    let score = sum / 25 * (isNegative ? -1 : 1) - 0.04 * offset.length
                    if score > best?.score ?? Self.leastAgreement { best = (score, offset) }
                }
            }
        }
        guard let best, best.score + 0.04 * best.offset.length > Self.certainPattern else { return nil }
        return Knot(place: place, shift: slope.shift + right * best.offset.x + down * best.offset.y, weight: 4)
    }

    /// Once all nodes are known, lets each be judged by neighbours on all sides.
    private mutating func settle() {
        let first = known.count - shifts.count
        for index in first..<known.count {
            let place = known[index].place
            guard known[index].weight < Self.certain else { continue }
            known[index].weight *= 0.3
            let (slope, agreement) = search(place, from: expectation(at: place), steps: Self.narrow)
            known[index].shift = slope.shift
            known[index].weight = agreement > Self.leastAgreement ? agreement : 0.1
        }
        let count = lines.count
        for knot in known[first...] {
            guard let column = lines.firstIndex(of: knot.place.x), let row = lines.firstIndex(of: knot.place.y) else {
                continue
            }
            shifts[row * count + column] = knot.shift
        }
    }

    /// The shift that what is known around a place lets expect there: a plane through its neighbours.
    private func expectation(at place: Place) -> Slope {
        // Normal equations of a plane, for both coordinates of the shift.
        var (n, x, y, xx, xy, yy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        var (sum, sumX, sumY) = (Place.zero, Place.zero, Place.zero)
        for knot in known {
            let away = knot.place - place
            // Squared; beyond 14 modules a plane says nothing any more.
            let distance = away.x * away.x + away.y * away.y
            guard distance < 200 else { continue }
            let weight = knot.weight / (distance + 16) / (distance + 16)
            n += weight
            x += weight * away.x
            y += weight * away.y
            xx += weight * away.x * away.x
            xy += weight * away.x * away.y
            yy += weight * away.y * away.y
            sum += weight * knot.shift
            sumX += weight * away.x * knot.shift
            sumY += weight * away.y * knot.shift
        }
        guard n > 0 else { return Slope() }
        // Where all lie in a line, the slope across it is none.
        let ridge = n * 0.5
        (xx, yy) = (xx + ridge, yy + ridge)
        let (a, b, c) = (yy * n - y * y, xy * n - x * y, xy * y - x * yy)
        let determinant = xx * a - xy * b + x * (xy * y - yy * x)
        guard abs(determinant) > 1e-12 else { return Slope(shift: sum / n) }
        // Cramer's rule for [xx xy x; xy yy y; x y n] · [across, down, shift] = [sumX, sumY, sum].
        let d = xx * n - x * x
        let e = x * xy - xx * y
        let f = xx * yy - xy * xy
        return Slope(
            shift: (c * sumX + e * sumY + f * sum) / determinant,
            across: (a * sumX - b * sumY + c * sum) / determinant,
            down: (-b * sumX + d * sumY + e * sum) / determinant
        )
    }

    /// Moves the surroundings of a place until they agree best.
    private func search(_ place: Place, from slope: Slope, steps: [(Double, Int)]) -> (Slope, agreement: Double) {
        let modules = surroundings(of: place, slope: slope)
        guard !modules.isEmpty else { return (slope, 0) }
        let (u, v) = (place.x, place.y)
        let right = flat(u + 0.5, v) - flat(u - 0.5, v) + slope.across
        let down = flat(u, v + 0.5) - flat(u, v - 0.5) + slope.down
        var best = (score: agreement(of: modules, movedBy: .zero), offset: Place.zero)
        var agreed = best.score
        for (step, reach) in steps {
            let start = best.offset
            for y in -reach...reach {
                for x in -reach...reach where x != 0 || y != 0 {
                    let offset = start + Place(Double(x), Double(y)) * step
                    let agreement = agreement(of: modules, movedBy: right * offset.x + down * offset.y)
                    let score = agreement - Self.stiffness * (offset.x * offset.x + offset.y * offset.y)
                    if score > best.score { (best, agreed) = ((score, offset), agreement) }
                }
            }
        }
        var result = slope
        result.shift += right * best.offset.x + down * best.offset.y
        return (result, agreed)
    }

    /// A module, where it is expected, and what is known of it: 1 dark, -1 light, 0 one of both.
    private struct Sample {
        var place: Place
        var ink: Double
        var weight: Double
    }

    private func surroundings(of place: Place, slope: Slope) -> [Sample] {
        let (column, row) = (Int(place.x), Int(place.y))
        let size = layout.size
        var samples: [Sample] = []
        for y in max(0, row - Self.reach)...min(size - 1, row + Self.reach) {
            for x in max(0, column - Self.reach)...min(size - 1, column + Self.reach) {
                let (u, v) = (Double(x) + 0.5, Double(y) + 0.5)
                let (across, down) = (u - place.x, v - place.y)
                let at = flat(u, v) + slope.shift + slope.across * across + slope.down * down
                let near = 1 / (1 + (across * across + down * down) / 16)
                switch layout.modules[y * size + x] {
                case .dark: samples.append(Sample(place: at, ink: isNegative ? -1 : 1, weight: 2 * near))
                case .light: samples.append(Sample(place: at, ink: isNegative ? 1 : -1, weight: 2 * near))
                case .data, .format: samples.append(Sample(place: at, ink: 0, weight: near))
                }
            }
        }
        return samples
    }

    private func agreement(of samples: [Sample], movedBy offset: Place) -> Double {
        var (sum, weights) = (0.0, 0.0)
        for sample in samples {
            let depth = depth(at: sample.place + offset)
            sum += sample.weight * (sample.ink == 0 ? abs(depth) : sample.ink * depth)
            weights += sample.weight
        }
        return sum / weights
    }

    /// How dark the picture is at a place: 1 dark, -1 light; 0 outside.
    @inline(__always)
    private func depth(at place: Place) -> Double {
        guard let shade = level.shade(at: place) else { return 0 }
        let block = level.block(Int(place.x), Int(place.y))
        let depth = (Double(middle[block]) - shade) / Double(contrast[block])
        return min(max(depth * 1.5, -1), 1)
    }

    // MARK: Reading

    /// Returns the place in the picture of a place in the symbol.
    private func callAsFunction(_ u: Double, _ v: Double, column: Int, row: Int) -> Place {
        let x = (u - lines[column]) / (lines[column + 1] - lines[column])
        let y = (v - lines[row]) / (lines[row + 1] - lines[row])
        let corner = row * lines.count + column
        let upper = shifts[corner] + (shifts[corner + 1] - shifts[corner]) * x
        let lower =
            shifts[corner + lines.count]
            + (shifts[corner + lines.count + 1] - shifts[corner + lines.count]) * x
        return flat(u, v) + upper + (lower - upper) * y
    }

    /// The shade of each module, as ``GridFit/shades()`` has it.
    func shades() -> [Float]? {
        let patch = (0..<layout.size).map { module in
            (lines.lastIndex { $0 <= Double(module) + 0.5 } ?? 0)
        }
        return GridFit.shades(of: layout, in: level, isNegative: isNegative) { u, v, column, row in
            self(u, v, column: patch[column], row: patch[row])
        }
    }

    /// The symbol's corners in the original picture, from the top left one down its left side.
    var corners: [Point] {
        let (side, last) = (Double(layout.size), lines.count - 2)
        let scale = Double(1 << level.halvings)
        return [(0, 0, 0, 0), (0, side, 0, last), (side, side, last, last), (side, 0, last, 0)].map {
            Point(nearest: self($0.0, $0.1, column: $0.2, row: $0.3) * scale)
        }
    }
}
