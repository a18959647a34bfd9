import Glibc

/// The places of a symbol's modules in a picture, by a perspective that is fitted to it.
struct GridFit {
    let layout: SymbolLayout
    /// From modules, counted from the symbol's top left corner, to pixels of the level.
    private(set) var perspective: Perspective
    /// How well the modules that are known agree with the picture: 1 for all of them, 0 for chance.
    private(set) var agreement: Double

    let level: Level
    let isNegative: Bool
    /// Four places of the grid, first the middles of the finder patterns, and where they are in the picture.
    private var anchors: [4 of Place]
    private var targets: [4 of Place]

    /// Agreement of the timing patterns below which there is no symbol of that version.
    private static let leastTiming = 0.25
    /// Agreement at which modules are certainly hit, though not all of them in their middles.
    private static let goodAgreement = 0.85

    /// Fits of the versions that a triple may be of, the likeliest first. None where it is no symbol.
    static func fits(
        of triple: FinderTriple,
        in level: Level,
        scale: Double,
        layouts: SymbolLayouts
    ) -> [GridFit] {
        let guess = triple.version
        let reach = max(1, guess / 6 + 1)
        let fits = (guess - reach...guess + reach).filter(SymbolLayout.versions.contains).compactMap { version in
            GridFit(triple, layout: layouts.of(version: version), in: level, scale: scale)
        }
        return fits.filter { $0.agreement > leastTiming }.sorted { $0.agreement > $1.agreement }
    }

    /// A first fit; its agreement is that of the timing patterns.
    init?(_ triple: FinderTriple, layout: SymbolLayout, in level: Level, scale: Double) {
        let (near, far) = (3.5, Double(layout.size) - 3.5)
        let patterns = [triple.corner, triple.right, triple.below]
        // How far away each pattern is: its area goes with the third power. On a plane, the fourth corner follows.
        let away = patterns.map { cbrt($0.module * $0.module) }.map { 1 / $0 }
        let depth = away[1] + away[2] - away[0]
        let places = patterns.map { $0.centre * scale }
        let flat = places[1] + places[2] - places[0]
        var fourth = flat
        if depth > 0.3 * away[0] {
            fourth = (places[1] * away[1] + places[2] * away[2] - places[0] * away[0]) / depth
        }
        self.layout = layout
        self.level = level
        self.isNegative = triple.corner.isNegative
        anchors = [Place(near, near), Place(far, near), Place(far, far), Place(near, far)]
        targets = [places[0], places[1], fourth, places[2]]
        guard let perspective = Perspective(from: anchors, to: targets) else { return nil }
        self.perspective = perspective
        agreement = 0
        agreement = agreement(of: layout.timing, under: perspective)
    }

    private func agreement(of landmarks: [SymbolLayout.Landmark], under perspective: Perspective) -> Double {
        guard !landmarks.isEmpty else { return 0 }
        let (middle, contrast) = (level.middle, level.contrast)
        var sum = 0.0
        for landmark in landmarks {
            let place = perspective(landmark.u, landmark.v)
            guard let shade = level.shade(at: place) else { continue }
            let block = level.block(Int(place.x), Int(place.y))
            let depth = (Double(middle[block]) - shade) / Double(contrast[block])
            sum += min(max(depth * 1.5, -1), 1) * landmark.ink
        }
        return sum / Double(landmarks.count) * (isNegative ? -1 : 1)
    }

    /// Whether the fit is so good as it is that refining it may be left out; its agreement is from then on that of all
    /// that is known.
    mutating func isGood() -> Bool {
        agreement = agreement(of: layout.landmarks, under: perspective)
        return agreement > Self.goodAgreement
    }

    /// Moves the grid until as much as possible of what is known agrees.
    mutating func refine() {
        findAlignment()
        let module = (targets[1] - targets[0]).length / (anchors[1] - anchors[0]).length
        var step = 0.6
        while step > 0.05 {
            var improved = false
            for corner in 0..<4 {
                for direction in [Place(1, 0), Place(-1, 0), Place(0, 1), Place(0, -1)] {
                    var moved = targets
                    moved[corner] += direction * (module * step)
                    if take(anchors, to: moved) { improved = true }
                }
            }
            if !improved { step /= 2 }
        }
    }

    /// Takes the grid that is fixed at these places, if more agrees with it.
    private mutating func take(_ anchors: [4 of Place], to targets: [4 of Place]) -> Bool {
        guard let next = Perspective(from: anchors, to: targets) else { return false }
        let agrees = agreement(of: layout.landmarks, under: next)
        guard agrees > agreement + 1e-6 else { return false }
        (self.anchors, self.targets, perspective, agreement) = (anchors, targets, next, agrees)
        return true
    }

    /// Looks for the alignment pattern nearest to the corner that has no finder pattern, where the fit expects it and
    /// around there, and ties the grid to it.
    private mutating func findAlignment() {
        guard layout.version > 1 else { return }
        let centre = Double(layout.size) - 6.5
        let reach = 3 + Double(layout.size) / 12
        let pattern = (-2...2).flatMap { y in
            (-2...2).map { x in
                SymbolLayout.Landmark(
                    u: centre + Double(x),
                    v: centre + Double(y),
                    ink: max(abs(x), abs(y)) != 1 ? 1 : -1
                )
            }
        }
        var best: (score: Double, place: Place)?
        for down in stride(from: -reach, through: reach, by: 0.5) {
            for across in stride(from: -reach, through: reach, by: 0.5) {
                var moved = pattern
                for index in moved.indices {
                    moved[index].u += across
                    moved[index].v += down
                }
                let distance = Place(across, down).length
                let score = agreement(of: moved, under: perspective) - 0.02 * distance
                if score > best?.score ?? 0.3 {
                    best = (score, perspective(centre + across, centre + down))
                }
            }
        }
        guard let best else { return }
        var (newAnchors, newTargets) = (anchors, targets)
        newAnchors[2] = Place(centre, centre)
        newTargets[2] = best.place
        _ = take(newAnchors, to: newTargets)
    }

    /// The shade of each module, row by row, the mean of a few places around its middle; what is dark in the symbol is
    /// darker, also in a negative. `nil` where most of the symbol lies outside the picture.
    func shades() -> [Float]? {
        Self.shades(of: layout, in: level, isNegative: isNegative) { u, v, _, _ in perspective(u, v) }
    }

    /// The same with modules where `place` says, by a place of the symbol and the module's column and row.
    @inline(__always)
    static func shades(
        of layout: SymbolLayout,
        in level: Level,
        isNegative: Bool,
        place: (Double, Double, Int, Int) -> Place
    ) -> [Float]? {
        var result: [Float] = []
        result.reserveCapacity(layout.size * layout.size)
        let offsets = [-0.22, 0, 0.22]
        var outside = 0
        for row in 0..<layout.size {
            for column in 0..<layout.size {
                var (sum, count) = (0.0, 0)
                for down in offsets {
                    for across in offsets {
                        let (u, v) = (Double(column) + 0.5 + across, Double(row) + 0.5 + down)
                        if let shade = level.shade(at: place(u, v, column, row)) {
                            sum += shade
                            count += 1
                        }
                    }
                }
                if count == 0 { outside += 1 }
                let shade = count == 0 ? 128 : Float(sum) / Float(count)
                result.append(isNegative ? 255 - shade : shade)
            }
        }
        return outside * 10 > result.count ? nil : result
    }

    /// The symbol's corners in the original picture, from the top left one down its left side.
    var corners: [Point] {
        let (side, scale) = (Double(layout.size), Double(1 << level.halvings))
        return [(0, 0), (0, side), (side, side), (side, 0)].map { u, v in
            Point(nearest: perspective(u, v) * scale)
        }
    }
}
