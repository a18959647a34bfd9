import CompanionWire
import Doctor
import Terminal

extension Finding {
    /// The finding on one line, and the advice on another.
    ///
    /// - Parameters:
    ///   - colour: Whether to colour the verdict.
    ///   - columns: The width of the window. A command at the end of the advice stays in one piece, to be copied.
    func text(colour: Bool, columns: Int?) -> String {
        let word = Self.padded(verdict.rawValue, to: 8)
        let shown = colour ? "\u{1B}[\(verdict.colour)m\(word)\u{1B}[0m" : word
        let about = TerminalText.line((subject.map { "\($0): " } ?? "") + evidence)
        // Remove the padding that stood for the two words in front.
        let place = word.utf8.count + 14
        let fitted = IndentedText.of(about, first: place, indent: 9, columns: columns, keepsWords: true).dropFirst(
            place
        )
        let line = "\(shown) \(Self.padded(check.rawValue, to: 12)) \(fitted)\n"
        return line
            + (advice.map {
                IndentedText.advice("→ " + TerminalText.line($0), first: 9, indent: 11, columns: columns) + "\n"
            } ?? "")
    }

    private static func padded(_ word: String, to width: Int) -> String {
        word + String(repeating: " ", count: max(0, width - word.count))
    }
}

extension Output {
    func show(_ finding: Finding) {
        switch format {
        case .text: data(finding.text(colour: context.colour, columns: context.columns))
        case .json: json(finding)
        case .quiet: if finding.verdict.fails { data(finding.check.rawValue) }
        }
    }
}

extension [Finding] {
    /// Such as `1 problem, 0 warnings`; nil if there are neither.
    var total: String? {
        guard contains(where: \.verdict.fails) else { return nil }
        let counts = [(Verdict.problem, "problem"), (.warning, "warning")].map { verdict, word in
            let count = count { $0.verdict == verdict }
            return "\(count) \(word)\(count == 1 ? "" : "s")"
        }
        return counts.joined(separator: ", ")
    }
}

extension Verdict {
    /// The SGR parameter (ECMA-48, 8.3.117).
    fileprivate var colour: String {
        switch self {
        case .ok: "32"
        case .note: "36"
        case .warning: "33"
        case .problem: "31"
        case .skipped: "2"
        }
    }
}
