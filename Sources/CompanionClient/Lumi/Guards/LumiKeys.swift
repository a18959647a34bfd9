import CompanionWire

/// A key, and those that are held with it, such as `command+shift+t`.
package struct LumiKeys: Sendable, Hashable {
    /// A key that is held while another one is pressed.
    package enum Modifier: String, Sendable, Hashable, CaseIterable {
        case command, shift, option, control
    }

    /// A letter, a digit, `f1` to `f12` or a name such as `return`; in lower case.
    package let key: String
    /// In the order in which they were written, each once.
    package let modifiers: [Modifier]

    /// Reads `KEY`, or modifiers and a key with `+` between them. `cmd`, `alt`, `ctrl` and `esc` are understood.
    ///
    /// - Throws: ``LumiInputError`` for a key that Macs do not know: they press Return in its place.
    package init(_ text: String) throws(LumiInputError) {
        var parts = text.lowercased().parts("+", omittingEmpty: false).map(Self.full)
        let key = parts.removeLast()
        guard Self.keys.contains(key) else {
            throw LumiInputError(
                "there is no key “\(key)”: a letter, a digit, f1 to f12, or one of \(Self.named.joined(separator: ", "))"
            )
        }
        var modifiers: [Modifier] = []
        for part in parts {
            guard let modifier = Modifier(rawValue: part), !modifiers.contains(modifier) else {
                throw LumiInputError("“\(part)” cannot be held: command, shift, option or control can, once each")
            }
            modifiers.append(modifier)
        }
        self.key = key
        self.modifiers = modifiers
    }

    private static let named = [
        "return", "enter", "tab", "space", "delete", "escape", "left", "right", "up", "down",
    ]

    private static let keys = Set(
        named + "abcdefghijklmnopqrstuvwxyz0123456789".map(String.init) + (1...12).map { "f\($0)" }
    )

    private static func full(_ word: Substring) -> String {
        switch word {
        case "cmd": "command"
        case "alt", "opt": "option"
        case "ctrl": "control"
        case "esc": "escape"
        case "backspace": "delete"
        default: String(word)
        }
    }
}
