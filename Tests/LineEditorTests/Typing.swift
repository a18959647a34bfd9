@testable import LineEditor

/// Bytes of keys, by name.
enum Bytes {
    static let up = "\u{1B}[A"
    static let down = "\u{1B}[B"
    static let pasteBegin = "\u{1B}[200~"
    static let pasteEnd = "\u{1B}[201~"

    static func paste(_ text: String) -> String { pasteBegin + text + pasteEnd }
    static func ctrl(_ character: Character) -> String {
        String(Unicode.Scalar(UInt8(character.asciiValue! & 0x1F)))
    }
}

extension LineState {
    /// Types bytes, in one piece.
    ///
    /// - Returns: The actions they led to.
    @discardableResult
    mutating func type(_ bytes: [UInt8]) -> [Action] {
        var rest = bytes[...]
        var actions: [Action] = []
        while let action = take(&rest) { actions.append(action) }
        return actions
    }

    @discardableResult
    mutating func type(_ text: String) -> [Action] { type(Array(text.utf8)) }

    static func after(_ text: String, history: [String] = []) -> LineState {
        var state = LineState(history: history)
        state.type(text)
        return state
    }

    /// The text with `|` where the cursor is.
    var shown: String {
        let (cursor, count) = buffer.position
        return LineBuffer.text(buffer.cells[0..<cursor]) + "|" + LineBuffer.text(buffer.cells[cursor..<count])
    }
}

/// Characters as terminals show them, nearly.
let testRule: Glyph.Rule = { character in
    let value = character.unicodeScalars.first!.value
    let isWide = (0x1100...0x115F).contains(value) || (0x3000...0xA4CF).contains(value) || value >= 0x1F300
    return Glyph(String(character), width: isWide ? 2 : (0x300...0x36F).contains(value) || value == 0x200D ? 0 : 1)
}
