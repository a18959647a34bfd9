import Glibc

@testable import QRCodec

/// A symbol on paper that does not lie flat, large and crisp: each pixel looks up its place on the paper.
enum BentPaper: CaseIterable {
    /// Around a bottle.
    case cylinder
    /// As a sheet lies that was rolled up.
    case wave
    /// Folded once, and opened again not quite.
    case fold
    /// Pulled at one corner.
    case bilinear
    /// Flat, behind a lens that bends straight lines.
    case barrel

    /// The place of the symbol, from 0 to 1 in both directions, that is seen at one of the picture.
    private func place(_ x: Double, _ y: Double) -> (u: Double, v: Double) {
        let (a, b) = (x - 0.5, y - 0.5)
        switch self {
        case .cylinder:
            let radius = 0.75
            let angle = asin(min(max(a / radius, -1), 1))
            // What is nearer to the camera is larger.
            return (0.5 + radius * angle, 0.5 + b * (1.02 - 0.25 * (1 - cos(angle))))
        case .wave:
            return (x + 0.016 * sin(7 * y + 1), y + 0.02 * sin(6 * x + 2))
        case .fold:
            let beyond = max(a + 0.4 * b - 0.05, 0)
            return (x + 0.12 * beyond, y + 0.2 * beyond)
        case .bilinear:
            return (x + 0.12 * a * b, y - 0.15 * a * b)
        case .barrel:
            let swell = 1 + 0.18 * (a * a + b * b)
            return (0.5 + a * swell, 0.5 + b * swell)
        }
    }

    func image(of symbol: QRSymbol, module: Double) -> QRImage {
        let side = Int(module * Double(symbol.size) * 1.3)
        var shades: [UInt8] = []
        shades.reserveCapacity(side * side)
        for y in 0..<side {
            for x in 0..<side {
                var ink = 0
                // Nine looks a pixel make edges soft.
                for look in 0..<9 {
                    let at = (Double(x) + Double(look % 3) / 3 + 1.0 / 6, Double(y) + Double(look / 3) / 3 + 1.0 / 6)
                    let (u, v) = place(at.0 / Double(side) * 1.3 - 0.15, at.1 / Double(side) * 1.3 - 0.15)
                    let modules = Double(symbol.size)
                    if symbol[Int((u * modules).rounded(.down)), Int((v * modules).rounded(.down))] { ink += 1 }
                }
                shades.append(UInt8(225 - 20 * ink))
            }
        }
        return QRImage(width: side, height: side, luminance: shades)
    }
}
