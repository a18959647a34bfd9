import CompanionWire

/// The tools that the command line, or `/allow` in a chat, allows.
struct AllowedTools: Sendable {
    /// The kinds of tools of the Agent Client Protocol.
    private static let kinds: Set<String> = [
        "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other",
    ]

    /// Names or kinds of tools; nil for all.
    private let names: [String]?

    init(_ names: [String]?) {
        self.names = names
    }

    /// Whether a tool is one of them. A title is the agent's own words: what is called “read” may do anything.
    func covers(kind: String, title: String) -> Bool {
        guard let names else { return true }
        return names.contains { name in
            name.isSame(as: kind) || !Self.kinds.contains(name) && name.isSame(as: title)
        }
    }
}
