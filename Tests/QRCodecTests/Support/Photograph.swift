import Glibc

@testable import QRCodec

/// A symbol on a card, seen by a camera: each pixel looks up its place on the card.
struct Photograph {
    let symbol: QRSymbol
    let width: Int
    let height: Int
    /// Pixels a module, before the tilt.
    var module = 4.0
    /// Radians.
    var rotation = 0.0
    /// Radians between the card and the picture.
    var tilt = 0.0
    /// The direction in which the card falls away, in radians.
    var direction = 0.0
    /// 1 for black on white.
    var contrast = 1.0
    /// How much darker the picture is at its right end than at its left.
    var slope = 0.0
    /// How far a shade may be off.
    var noise = 0
    /// Modules over which each edge is spread.
    var blur = 0.0
    /// The light of a lamp on a corner of the symbol, of 1 for white.
    var glare = 0.0
    /// How much a screen's pixels darken and lighten the camera's in bands.
    var moire = 0.0
    /// Things that lie around the card.
    var clutter = 0
    var isNegative = false

    init(_ symbol: QRSymbol, width: Int, height: Int) {
        (self.symbol, self.width, self.height) = (symbol, width, height)
    }

    func image(using generator: inout some RandomNumberGenerator) -> QRImage {
        let side = Double(symbol.size)
        let things = (0..<clutter).map { _ in Thing(width: width, height: height, using: &generator) }
        let lamp = (x: Double(width) / 2 - side * module / 3, y: Double(height) / 2 - side * module / 3)
        var lights: [Double] = []
        for y in 0..<height {
            for x in 0..<width {
                var (ink, isCard) = (0.0, false)
                // Four looks a pixel make edges soft.
                for (dx, dy) in [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)] {
                    let (u, v) = place(Double(x) + dx - Double(width) / 2, Double(y) + dy - Double(height) / 2)
                    let (column, row) = (Int((u + side / 2).rounded(.down)), Int((v + side / 2).rounded(.down)))
                    if symbol[column, row] != isNegative { ink += 0.25 }
                    isCard = isCard || max(abs(u), abs(v)) < side / 2 + 4
                }
                var light = 1 - contrast * ink
                if !isCard, let thing = things.last(where: { $0.holds(x, y) }) { light = thing.light }
                light *= 1 - slope * Double(x) / Double(width)
                if moire > 0 { light *= 1 + moire * sin(Double(x) * 0.9 + Double(y) * 0.35) }
                if glare > 0 {
                    let (dx, dy) = ((Double(x) - lamp.x) / (side * module), (Double(y) - lamp.y) / (side * module))
                    light += glare * exp(-30 * (dx * dx + dy * dy))
                }
                lights.append(light)
            }
        }
        let radius = Int((blur * module / 2).rounded())
        // Two boxes, one after the other, are nearly what a lens does.
        for _ in 0..<(radius > 0 ? 2 : 0) { lights = blurred(lights, radius: radius) }
        let shades = lights.map { light in
            let shade = 20 + 215 * light + Double(Int.random(in: -noise...noise, using: &generator))
            return UInt8(min(max(shade, 0), 255))
        }
        return QRImage(width: width, height: height, luminance: shades)
    }

    /// A dark or light thing on the table, perhaps one with edges like a finder pattern's.
    private struct Thing {
        var x: Range<Int>
        var y: Range<Int>
        var light: Double
        var rings: Int

        init(width: Int, height: Int, using generator: inout some RandomNumberGenerator) {
            let left = Int.random(in: 0..<width, using: &generator)
            let top = Int.random(in: 0..<height, using: &generator)
            x = left..<left + Int.random(in: 6...80, using: &generator)
            y = top..<top + Int.random(in: 6...80, using: &generator)
            light = Double.random(in: 0...1, using: &generator)
            rings = Int.random(in: 0...2, using: &generator)
        }

        func holds(_ x: Int, _ y: Int) -> Bool {
            guard self.x.contains(x), self.y.contains(y) else { return false }
            let depth = min(x - self.x.lowerBound, self.x.upperBound - 1 - x, y - self.y.lowerBound)
            return rings == 0 || depth / 4 % 2 == 0
        }
    }

    /// The mean of each place's neighbours, along rows and then along columns.
    private func blurred(_ lights: [Double], radius: Int) -> [Double] {
        func along(_ source: [Double], lines: Int, length: Int, line: Int, step: Int) -> [Double] {
            var result = source
            for number in 0..<lines {
                let start = number * line
                func light(_ index: Int) -> Double { source[start + min(max(index, 0), length - 1) * step] }
                var sum = (-radius...radius).reduce(0) { $0 + light($1) }
                for index in 0..<length {
                    result[start + index * step] = sum / Double(2 * radius + 1)
                    sum += light(index + radius + 1) - light(index - radius)
                }
            }
            return result
        }
        let rows = along(lights, lines: height, length: width, line: width, step: 1)
        return along(rows, lines: width, length: height, line: 1, step: width)
    }

    /// The place on the card that is seen at a place in the picture, both from their middles.
    private func place(_ x: Double, _ y: Double) -> (u: Double, v: Double) {
        // Along the direction of the tilt and across, then back through the perspective.
        let (a, b) = (x * cos(direction) + y * sin(direction), y * cos(direction) - x * sin(direction))
        let distance = 2.5 * module * Double(symbol.size)
        let depth = distance / (distance * cos(tilt) - a * sin(tilt))
        let (along, across) = (a * depth, b * depth * cos(tilt))
        let turned = direction - rotation
        return (
            (along * cos(turned) - across * sin(turned)) / module, (along * sin(turned) + across * cos(turned)) / module
        )
    }
}
