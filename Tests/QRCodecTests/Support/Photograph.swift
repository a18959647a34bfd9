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
    var isNegative = false

    init(_ symbol: QRSymbol, width: Int, height: Int) {
        (self.symbol, self.width, self.height) = (symbol, width, height)
    }

    func image(using generator: inout some RandomNumberGenerator) -> QRImage {
        let side = Double(symbol.size)
        var shades: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                var ink = 0.0
                // Four looks a pixel make edges soft.
                for (dx, dy) in [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)] {
                    let (u, v) = place(Double(x) + dx - Double(width) / 2, Double(y) + dy - Double(height) / 2)
                    let (column, row) = (Int((u + side / 2).rounded(.down)), Int((v + side / 2).rounded(.down)))
                    if symbol[column, row] != isNegative { ink += 0.25 }
                }
                let light = (1 - contrast * ink) * (1 - slope * Double(x) / Double(width))
                let shade = 20 + 215 * light + Double(Int.random(in: -noise...noise, using: &generator))
                shades.append(UInt8(min(max(shade, 0), 255)))
            }
        }
        return QRImage(width: width, height: height, luminance: shades)
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
