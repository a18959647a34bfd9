import QRCodec

/// What a terminal shows for block characters, by what Unicode calls them.
struct TerminalScreen {
    /// Pixels of a character.
    static let cell = (width: 8, height: 18)

    let lines: [[Character]]
    let inkIsDark: Bool

    /// - Parameter text: Lines, perhaps with colours set around each.
    init(_ text: String, inkIsDark: Bool) {
        self.inkIsDark = inkIsDark
        lines = text.split(separator: "\n").map { line in
            var bare: [Character] = []
            var isEscape = false
            for character in line {
                if character == "\u{1B}" { isEscape = true }
                if !isEscape { bare.append(character) }
                if character == "m" { isEscape = false }
            }
            return bare
        }
    }

    var image: QRImage {
        let (width, height) = (Self.cell.width, Self.cell.height)
        let columns = lines.map(\.count).max() ?? 0
        var shades = [UInt8](repeating: 255, count: lines.count * height * columns * width)
        for (row, line) in lines.enumerated() {
            for (column, character) in line.enumerated() {
                for part in 0..<12 where Self.isInk(character, right: part % 2 == 1, sixth: part / 2) == inkIsDark {
                    for y in part / 2 * height / 6..<(part / 2 + 1) * height / 6 {
                        let start = ((row * height + y) * columns + column) * width + part % 2 * width / 2
                        for x in start..<start + width / 2 { shades[x] = 0 }
                    }
                }
            }
        }
        return QRImage(width: columns * width, height: lines.count * height, luminance: shades)
    }

    /// Whether a character has ink in its left or right half, in one of six parts from the top.
    private static func isInk(_ character: Character, right: Bool, sixth: Int) -> Bool {
        let name = character.unicodeScalars.first?.properties.name ?? ""
        switch name {
        case "SPACE": return false
        case "FULL BLOCK": return true
        case "UPPER HALF BLOCK": return sixth < 3
        case "LOWER HALF BLOCK": return sixth >= 3
        case "LEFT HALF BLOCK": return !right
        case "RIGHT HALF BLOCK": return right
        default: break
        }
        if name.hasPrefix("QUADRANT ") {
            return name.dropFirst(9).contains("\(sixth < 3 ? "UPPER" : "LOWER") \(right ? "RIGHT" : "LEFT")")
        }
        // The parts of a sextant are numbered from the top left: 1 2, 3 4, 5 6.
        return name.hasPrefix("BLOCK SEXTANT-") && name.dropFirst(14).contains("\(sixth / 2 * 2 + (right ? 2 : 1))")
    }
}
