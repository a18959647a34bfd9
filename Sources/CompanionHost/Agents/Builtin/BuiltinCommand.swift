import CompanionWire

/// A command for the project explorer, as read from a prompt.
package enum BuiltinCommand: Sendable, Hashable {
    case help
    case list(directory: String)
    /// `depth`: levels below the directory, 1…8.
    case tree(directory: String, depth: Int)
    case find(pattern: String)
    case search(text: String)
    /// `lines`: counted from 1; nil shows the file from its beginning.
    case show(file: String, lines: ClosedRange<Int>?)
    /// `count`: 1…100.
    case log(count: Int)
    /// A description of the project, for anything else.
    case about

    /// Reads the first line of a prompt. A command without its arguments is ``help``.
    package init(prompt: String) {
        let line = prompt.split(whereSeparator: \.isNewline).first { !$0.allSatisfy(\.isWhitespace) } ?? ""
        let parts = String(line).trimmingWhitespace().split(maxSplits: 1, whereSeparator: \.isWhitespace)
        let argument = parts.count > 1 ? String(parts[1]).trimmingWhitespace() : ""
        switch parts.first?.lowercased() {
        case "help", "?": self = .help
        case "list", "ls": self = .list(directory: Self.unquoted(argument))
        case "tree": self = Self.tree(argument)
        case "find": self = argument.isEmpty ? .help : .find(pattern: Self.unquoted(argument))
        case "search", "grep": self = Self.search(Self.unquoted(argument))
        case "show", "cat", "read": self = argument.isEmpty ? .help : Self.show(Self.unquoted(argument))
        case "log": self = .log(count: Int(argument).map { min(max($0, 1), 100) } ?? 10)
        default: self = .about
        }
    }

    private static func tree(_ argument: String) -> Self {
        let words = argument.split(whereSeparator: \.isWhitespace)
        guard let last = words.last, let depth = Int(last) else {
            return .tree(directory: unquoted(argument), depth: 3)
        }
        let directory = words.dropLast().joined(separator: " ")
        return .tree(directory: unquoted(directory), depth: min(max(depth, 1), 8))
    }

    private static func search(_ text: String) -> Self {
        text.isEmpty ? .help : .search(text: text)
    }

    /// Reads `FILE`, `FILE:A` and `FILE:A-B`.
    private static func show(_ argument: String) -> Self {
        guard let (file, range) = argument.cut(atLast: ":") else { return .show(file: argument, lines: nil) }
        let bounds = range.parts("-", omittingEmpty: false)
        let numbers = bounds.compactMap { Int($0) }.filter { $0 > 0 }
        guard numbers.count == bounds.count, let first = numbers.first, numbers.count <= 2 else {
            return .show(file: argument, lines: nil)
        }
        let last = max(numbers.count == 2 ? numbers[1] : first, first)
        return .show(file: String(file), lines: first...last)
    }

    private static func unquoted(_ text: String) -> String {
        for quote in ["\"", "'", "`"] {
            if let inner = text.dropping(prefix: quote)?.dropping(suffix: quote) { return String(inner) }
        }
        return text
    }
}
