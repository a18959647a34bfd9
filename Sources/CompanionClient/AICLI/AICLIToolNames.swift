/// Finds the tools that the text of an agent's question names.
///
/// The agent writes the text, so in doubt this finds no tool: “Read the plan first” names none, “use the Read tool”
/// does.
enum AICLIToolNames {
    /// The tools of the agent that these servers run.
    private static let known: Set<String> = [
        "Bash", "Edit", "Glob", "Grep", "LS", "MultiEdit", "NotebookEdit", "NotebookRead", "Read", "Task", "TodoWrite",
        "WebFetch", "WebSearch", "Write",
    ]
    private static let inSmall = Set(known.map { $0.lowercased() })
    private static let verbs: Set<String> = ["use", "using", "call", "invoke"]
    /// Words before “tool” that are not a tool's name.
    private static let fillers: Set<String> = ["the", "a", "this", "that", "these", "those", "following", "and", "or"]

    /// All tool names in the text, each once, if at least one of them is used as a tool's name. Empty if an unknown
    /// word is used as a tool's name.
    static func named(in text: String) -> [String] {
        let words = words(of: text)
        let used = words.indices.filter { isTool(at: $0, in: words) }.map { words[$0] }
        guard !used.isEmpty, used.allSatisfy(isKnown) else { return [] }
        return words.filter(isKnown).reduce(into: []) { names, word in
            if !names.contains(word) { names.append(word) }
        }
    }

    private static func isKnown(_ word: String) -> Bool { known.contains(word) || isServerTool(word) }

    /// Whether the word is used as a tool's name: “the Bash tool”, “use Bash”, “use the tool Bash”.
    private static func isTool(at index: Int, in words: [String]) -> Bool {
        let word = words[index]
        let isBeforeTool = index + 1 < words.count && ["tool", "tools"].contains(words[index + 1].lowercased())
        // In “the Read tool, then the shell tool”, “shell” counts as a tool too. It is unknown, so nothing covers it.
        if isBeforeTool, !fillers.contains(word.lowercased()) { return true }
        guard let first = word.utf8.first,
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) || isServerTool(word) || inSmall.contains(word)
        else { return false }
        let before = words[..<index].reversed().map { $0.lowercased() }.first { !["the", "a"].contains($0) }
        return before.map { verbs.contains($0) || $0 == "tool" } ?? false
    }

    /// Tools of MCP servers: `mcp__github__search`.
    private static func isServerTool(_ word: String) -> Bool {
        word.utf8.starts(with: "mcp__".utf8)
    }

    /// The runs of ASCII letters, digits and underscores. All other characters separate words.
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
