/// The tools that a question of the agent names in its text.
///
/// The text is the agent's, so this errs towards none: “Read the plan first” names no tool, “use the Read tool” does.
enum AICLIToolNames {
    /// The tools of the agent that these servers run.
    private static let known: Set<String> = [
        "Bash", "Edit", "Glob", "Grep", "LS", "MultiEdit", "NotebookEdit", "NotebookRead", "Read", "Task", "TodoWrite",
        "WebFetch", "WebSearch", "Write",
    ]
    private static let inSmall = Set(known.map { $0.lowercased() })
    private static let verbs: Set<String> = ["use", "using", "call", "invoke"]
    /// What may stand before “tool” and is no name of one.
    private static let fillers: Set<String> = ["the", "a", "this", "that", "these", "those", "following", "and", "or"]

    /// The names, each once: all that the text has, if one of them stands where a tool is named. Empty where something
    /// that this does not know stands there.
    static func named(in text: String) -> [String] {
        let words = words(of: text)
        let used = words.indices.filter { isTool(at: $0, in: words) }.map { words[$0] }
        guard !used.isEmpty, used.allSatisfy(isKnown) else { return [] }
        return words.filter(isKnown).reduce(into: []) { names, word in
            if !names.contains(word) { names.append(word) }
        }
    }

    private static func isKnown(_ word: String) -> Bool { known.contains(word) || isServerTool(word) }

    /// Whether the word stands where a tool is named: “the Bash tool”, “use Bash”, “use the tool Bash”.
    private static func isTool(at index: Int, in words: [String]) -> Bool {
        let word = words[index]
        let isBeforeTool = index + 1 < words.count && ["tool", "tools"].contains(words[index + 1].lowercased())
        // “the Read tool, then the shell tool”: a name in small letters is one as well, which nothing covers.
        if isBeforeTool, !fillers.contains(word.lowercased()) { return true }
        guard let first = word.utf8.first,
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) || isServerTool(word) || inSmall.contains(word)
        else { return false }
        let before = words[..<index].reversed().map { $0.lowercased() }.first { !["the", "a"].contains($0) }
        return before.map { verbs.contains($0) || $0 == "tool" } ?? false
    }

    /// Tools of other servers: `mcp__github__search`.
    private static func isServerTool(_ word: String) -> Bool {
        word.utf8.starts(with: "mcp__".utf8)
    }

    /// The runs of ASCII letters, digits and underscores. Anything else is between words.
    private static func words(of text: String) -> [String] {
        text.utf8.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                false
            default: true
            }
        }
        .map { String(decoding: $0, as: UTF8.self) }
    }
}
