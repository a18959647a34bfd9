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
    /// How far from `centre` the pattern's outer edge lies in a direction, in pixels; `nil` where what lies between does
    /// not look like half of a finder pattern: 1.5 modules of core, one of ring's ground, one of ring.
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
        let (middle, step) = (middle, 0.5)
        var limit = limit
        var found: (Double, Double, Double) = (0, 0, 0)
        var count = 0
        var inside = true
        var last = 0.0
        var distance = 0.0
        while distance < limit {
            let place = centre + direction * distance
            guard let shade = shade(at: place) else { return nil }
            let (x, y) = (Int(place.x), Int(place.y))
            var above = shade - Double(middle[block(x, y)])
            if isNegative { above = -above }
            let isInside = above < 0
            if isInside != inside {
                let share = last == above ? 0 : last / (last - above)
                let edge = distance - step + step * min(max(share, 0), 1)
                switch count {
                case 0:
                    found.0 = edge
                    // The core's half is three sevenths of the way, and never less than a quarter.
                    limit = min(limit, 4 * edge + 2)
                case 1: found.1 = edge
                default:
                    found.2 = edge
                    return found
                }
                count += 1
                inside = isInside
            }
            last = above
            distance += step
        }
        return nil
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
