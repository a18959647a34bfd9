/// One of the three squares in a square that say where a symbol is (ISO/IEC 18004, 6.3.3).
struct FinderPattern {
    /// Its centre, in pixels of the level where it was found.
    var centre: Place
    /// The mean width of a module, by area.
    var module: Double
    /// How many lines of the picture crossed it.
    var hits: Int
    /// Whether light and dark are exchanged.
    var isNegative: Bool

    /// Rays that the shape is measured with.
    static let rays = 16
}

extension Level {
    /// How wide a pattern is along a line through its centre.
    func width(of pattern: FinderPattern, towards line: Place) -> Double? {
        let direction = line / line.length
        let (limit, isNegative) = (8 * pattern.module + 4, pattern.isNegative)
        let ahead = outerEdge(from: pattern.centre, towards: direction, isNegative: isNegative, within: limit)
        let behind = outerEdge(from: pattern.centre, towards: -direction, isNegative: isNegative, within: limit)
        return switch (ahead, behind) {
        case (let ahead?, let behind?): ahead + behind
        case (let one?, nil), (nil, let one?): 2 * one
        case (nil, nil): nil
        }
    }

    /// How far from `centre` the pattern's outer edge lies in a direction, in pixels; `nil` where what lies between
    /// does not look like half of a finder pattern: 1.5 modules of core, one of ring's ground, one of ring.
    func outerEdge(from centre: Place, towards direction: Place, isNegative: Bool, within limit: Double) -> Double? {
        guard let edges = edges(from: centre, towards: direction, isNegative: isNegative, within: limit) else {
            return nil
        }
        let module = edges.2 / 3.5
        // Blur and light make the dark parts wider or narrower, always both edges of one by the same amount.
        let (core, gap, ring) = (edges.0, edges.1 - edges.0, edges.2 - edges.1)
        guard abs(core - 1.5 * module) < 0.9 * module, abs(gap - module) < 0.75 * module,
            abs(ring - module) < 0.75 * module
        else { return nil }
        return edges.2
    }

    /// The first three changes between dark and light from a place on.
    private func edges(
        from centre: Place,
        towards direction: Place,
        isNegative: Bool,
        within limit: Double
    ) -> (Double, Double, Double)? {
        let dark = dark
        // In half pixels.
        let step = direction / 2
        var (place, limit) = (centre, Int(2 * limit))
        var found: (Double, Double, Double) = (0, 0, 0)
        var count = 0
        var ink: UInt8 = isNegative ? 0 : 1
        let end = Place(Double(width), Double(height))
        var steps = 0
        while steps < limit {
            guard place.x >= 0, place.y >= 0, place.x < end.x, place.y < end.y else {
                // A symbol without a quiet zone may end where the picture does.
                guard count == 2 else { return nil }
                found.2 = Double(steps) / 2
                return found
            }
            if dark[Int(place.y) * width + Int(place.x)] != ink {
                let edge = (Double(steps) - 1 + share(from: place - step, to: place)) / 2
                switch count {
                case 0:
                    found.0 = edge
                    // The core's half is three sevenths of the way, and never less than a quarter.
                    limit = min(limit, Int(8 * edge) + 4)
                case 1: found.1 = edge
                default:
                    found.2 = edge
                    return found
                }
                count += 1
                ink ^= 1
            }
            place += step
            steps += 1
        }
        return nil
    }

    /// Returns the point between two places where the shade passes the middle, as a share of the way: 0 to 1.
    private func share(from start: Place, to end: Place) -> Double {
        guard let before = shade(at: start), let after = shade(at: end), before != after else { return 0.5 }
        let middle = Double(middle[block(Int(end.x), Int(end.y))])
        return min(max((middle - before) / (after - before), 0), 1)
    }

    /// The shade between four pixels, whose centres lie at halves; `nil` outside.
    @inline(__always)
    func shade(at place: Place) -> Double? {
        let (left, top) = (place.x - 0.5, place.y - 0.5)
        guard left >= 0, top >= 0, left < Double(width - 1), top < Double(height - 1) else { return nil }
        let (x, y) = (Int(left), Int(top))
        let (right, down) = (left - Double(x), top - Double(y))
        let pixel = grey + y * width + x
        let upper = Double(pixel[0]) + right * (Double(pixel[1]) - Double(pixel[0]))
        let lower = Double(pixel[width]) + right * (Double(pixel[width + 1]) - Double(pixel[width]))
        return upper + down * (lower - upper)
    }
}
