import CompanionWire

@testable import LineEditor

/// Bytes of keys, by name.
enum Bytes {
    static let up = "\u{1B}[A"
    static let down = "\u{1B}[B"
    static let pasteBegin = "\u{1B}[200~"
    static let pasteEnd = "\u{1B}[201~"

    static func paste(_ text: String) -> String { pasteBegin + text + pasteEnd }
}

extension LineState.Action {
    /// What Tab asks for.
    var request: CompletionRequest? { if case .complete(let request) = self { request } else { nil } }
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

/// Characters as ``TerminalScreen`` shows them.
let testRule: Glyph.Rule = { Glyph(String($0), width: DisplayWidth.of($0)) }
