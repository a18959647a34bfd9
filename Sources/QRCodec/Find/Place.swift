/// A place in a picture or in a symbol's grid, between pixels or modules.
typealias Place = SIMD2<Double>

extension Place {
    /// The distance from the origin.
    var length: Double { (x * x + y * y).squareRoot() }
    /// Twice the area of the triangle with `other`; positive where `other` lies clockwise on a screen.
    func cross(_ other: Place) -> Double { x * other.y - y * other.x }
}

extension Point {
    /// The pixel nearest to a place. A coordinate that is not finite, as a picture made for it may bring about, counts
    /// as 0.
    init(nearest place: Place) {
        func pixel(_ coordinate: Double) -> Int {
            coordinate.isFinite ? Int(min(max(coordinate.rounded(), -1e9), 1e9)) : 0
        }
        self.init(x: pixel(place.x), y: pixel(place.y))
    }
}

/// A perspective: takes places of a flat symbol to places of the picture that shows it.
struct Perspective {
    private var (xu, xv, x1): (Double, Double, Double)
    private var (yu, yv, y1): (Double, Double, Double)
    private var (wu, wv, w1): (Double, Double, Double)

    /// The perspective that takes four places of the symbol to four of the picture; `nil` where they do not allow one.
    ///
    /// Both are given in the same order around: top left, top right, bottom right, bottom left.
    init?(from source: [4 of Place], to target: [4 of Place]) {
        guard let there = Perspective(toSquare: source), let back = Perspective(fromSquareTo: target) else {
            return nil
        }
        self = there.followed(by: back)
    }

    @inline(__always)
    func callAsFunction(_ u: Double, _ v: Double) -> Place {
        let w = wu * u + wv * v + w1
        return Place(xu * u + xv * v + x1, yu * u + yv * v + y1) / w
    }

    /// From the unit square to a quadrilateral (Heckbert, Fundamentals of Texture Mapping, 1989, section 2.2.3).
    private init?(fromSquareTo quad: [4 of Place]) {
        let sum = quad[0] - quad[1] + quad[2] - quad[3]
        let (right, bottom) = (quad[1] - quad[2], quad[3] - quad[2])
        let divisor = right.cross(bottom)
        guard abs(divisor) > 1e-9 else { return nil }
        (wu, wv, w1) = (sum.cross(bottom) / divisor, right.cross(sum) / divisor, 1)
        let u = quad[1] - quad[0] + wu * quad[1]
        let v = quad[3] - quad[0] + wv * quad[3]
        (xu, xv, x1) = (u.x, v.x, quad[0].x)
        (yu, yv, y1) = (u.y, v.y, quad[0].y)
    }

    /// The way back: the adjugate, which is the inverse but for a factor that does not matter.
    private init?(toSquare quad: [4 of Place]) {
        guard let m = Perspective(fromSquareTo: quad) else { return nil }
        (xu, xv, x1) = (m.yv * m.w1 - m.y1 * m.wv, m.x1 * m.wv - m.xv * m.w1, m.xv * m.y1 - m.x1 * m.yv)
        (yu, yv, y1) = (m.y1 * m.wu - m.yu * m.w1, m.xu * m.w1 - m.x1 * m.wu, m.x1 * m.yu - m.xu * m.y1)
        (wu, wv, w1) = (m.yu * m.wv - m.yv * m.wu, m.xv * m.wu - m.xu * m.wv, m.xu * m.yv - m.xv * m.yu)
    }

    private func followed(by next: Perspective) -> Perspective {
        var result = self
        (result.xu, result.xv, result.x1) = (
            next.xu * xu + next.xv * yu + next.x1 * wu, next.xu * xv + next.xv * yv + next.x1 * wv,
            next.xu * x1 + next.xv * y1 + next.x1 * w1
        )
        (result.yu, result.yv, result.y1) = (
            next.yu * xu + next.yv * yu + next.y1 * wu, next.yu * xv + next.yv * yv + next.y1 * wv,
            next.yu * x1 + next.yv * y1 + next.y1 * w1
        )
        (result.wu, result.wv, result.w1) = (
            next.wu * xu + next.wv * yu + next.w1 * wu, next.wu * xv + next.wv * yv + next.w1 * wv,
            next.wu * x1 + next.wv * y1 + next.w1 * w1
        )
        return result
    }
}
