import CompanionWire

/// The facts about one thing, for people: a line for each fact, with the labels in a column of their own.
package struct FactList: ExpressibleByDictionaryLiteral {
    private var facts: [(label: String, value: String)] = []

    /// Labels in ASCII, and values. The order stays, and a label may occur more than once.
    package init(dictionaryLiteral facts: (String, String?)...) {
        for (label, value) in facts { add(label, value) }
    }

    /// - Parameter value: Sanitised here. A nil value leaves out the line.
    package mutating func add(_ label: String, _ value: String?) {
        if let value { facts.append((label, TerminalText.line(value))) }
    }

    /// - Parameters:
    ///   - indent: Columns before each label. Default: 0.
    ///   - columns: The width of the window, to which values are wrapped beside their labels; nil if there is none.
    package func text(indent: Int = 0, columns: Int? = nil) -> String {
        let width = 2 + (facts.map(\.label.utf8.count).max() ?? 0)
        let lines = facts.map { $0 + String(repeating: " ", count: width - $0.utf8.count) + $1 }
        let text = IndentedText.of(
            lines.joined(separator: "\n"),
            first: indent,
            // In a narrow window, ids fit on a line of their own.
            indent: indent + ((columns ?? .max) - width < 40 ? 2 : width),
            columns: columns,
            keepsWords: true
        )
        // A label whose value is on the next line.
        return text.replacing(/\ +\n/) { _ in "\n" }
    }
}
