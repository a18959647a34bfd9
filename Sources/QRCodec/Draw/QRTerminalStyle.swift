/// How many modules share a character of a terminal.
package enum QRTerminalStyle: String, Sendable, Hashable, CaseIterable {
    /// One beside another, two above one another: square on most terminals, in characters that every font has.
    case halves
    /// Two by two: half as wide, so that the drawing looks squeezed.
    case quadrants
    /// Two by three, the smallest and nearly square; characters that not every terminal has (Unicode 13).
    case sextants

    /// Modules of a character.
    var columns: Int { self == .halves ? 1 : 2 }
    var rows: Int { self == .sextants ? 3 : 2 }

    /// A character for each combination of modules with ink: the lowest bit for the one at the top left, the next for
    /// that at its right.
    var characters: [Character] {
        switch self {
        case .halves: Array(" ▀▄█")
        case .quadrants: Array(" ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█")
        case .sextants: Self.sextantCharacters
        }
    }

    /// U+1FB00 and the following, without those that are halves of a block.
    private static let sextantCharacters: [Character] = {
        var (characters, next): ([Character], UInt32) = ([], 0x1FB00)
        for bits in 0..<64 {
            switch bits {
            case 0: characters.append(" ")
            case 0b010101: characters.append("▌")
            case 0b101010: characters.append("▐")
            case 63: characters.append("█")
            default:
                characters.append(Unicode.Scalar(next).map(Character.init) ?? " ")
                next += 1
            }
        }
        return characters
    }()
}

/// A QR code as lines of text.
package struct QRTerminalDrawing: Sendable, Hashable {
    /// The lines, each with its end.
    package var text: String
    /// The style that it is drawn in.
    package var style: QRTerminalStyle
    /// Light modules on each side.
    package var quietZone: Int
}
