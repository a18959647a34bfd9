import CompanionWire

/// The tools that the command line, or `/allow` in a chat, allows.
package struct AllowedTools: Sendable {
    /// Names or kinds of tools; nil for all.
    private let names: [String]?

    package init(_ names: [String]?) {
        self.names = names
    }

    /// Whether a tool is one of them. A title is the agent's own words: what is called “read” may do anything.
    package func covers(kind: String, title: String) -> Bool {
        guard let names else { return true }
        return names.contains { name in
            name.isSame(as: kind) || !Self.isKind(name) && name.isSame(as: title)
        }
    }

    private static func isKind(_ name: String) -> Bool {
        ToolReport.kinds.contains { name.isSame(as: $0) }
    }
}
