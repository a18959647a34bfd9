/// What an agent tells of its work beside its answer. Hosts send a `status`, `tool_start` or `tool_complete` too, for
/// readers that do not know these frames.
package enum AgentActivity: Sendable, Hashable {
    /// A piece of what it thinks, to be appended to what came before.
    case thought(String)
    /// All steps of its plan, in place of those of an earlier one.
    case plan([AgentPlanStep])
    case tool(AgentToolReport)
    /// A picture or a sound of its answer.
    case media(AgentMedia)
}

/// A step of an agent's plan.
package struct AgentPlanStep: Codable, Sendable, Hashable {
    package enum Status: String, Codable, Sendable, Hashable {
        case pending
        case inProgress = "in_progress"
        case completed
    }

    package var text: String
    package var status: Status

    package init(text: String, status: Status) {
        self.text = text
        self.status = status
    }
}

/// A call of a tool, as far as it is.
package struct AgentToolReport: Codable, Sendable, Hashable {
    package enum Status: String, Codable, Sendable, Hashable {
        case pending
        case inProgress = "in_progress"
        case completed, failed
    }

    /// The kinds of tools that the Agent Client Protocol has (`ToolKind`).
    package static let kinds = [
        "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other",
    ]

    /// A change of a file.
    package struct Change: Codable, Sendable, Hashable {
        package var path: String
        /// As `diff -u` writes it, or its beginning.
        package var diff: String

        package init(path: String, diff: String) {
            self.path = path
            self.diff = diff
        }
    }

    package var toolCallID: String
    package var title: String
    /// What sort of tool it is, such as `read`, `edit` or `execute`; empty for none.
    package var kind: String
    package var status: Status
    package var locations: [AgentLocation]
    /// What it has changed; empty until it has ended.
    package var changes: [Change]
    /// Whether the agent has asked before it used it; nil for an agent that asks nothing, because it gets no tools but
    /// those that are allowed beforehand.
    package var asked: Bool?

    package init(
        toolCallID: String,
        title: String,
        kind: String,
        status: Status,
        locations: [AgentLocation],
        changes: [Change],
        asked: Bool? = nil
    ) {
        self.toolCallID = toolCallID
        self.title = title
        self.kind = kind
        self.status = status
        self.locations = locations
        self.changes = changes
        self.asked = asked
    }

    /// Whether nothing more is done for it.
    package var hasEnded: Bool { status == .completed || status == .failed }
}

/// A place in a file that an agent works at.
package struct AgentLocation: Codable, Sendable, Hashable {
    /// Absolute, or relative to the project.
    package var path: String
    /// From 1.
    package var line: Int?

    package init(path: String, line: Int? = nil) {
        self.path = path
        self.line = line
    }
}

/// A picture or a sound of an agent.
package struct AgentMedia: Codable, Sendable, Hashable {
    /// The most bytes of base64 that are sent on.
    package static let maximumData = 1 << 20

    /// In the agent's words, such as `image/png`.
    package var mimeType: String
    /// Bytes.
    package var size: Int
    /// Base64; nil if it is too large.
    package var data: String?

    package init(mimeType: String, size: Int, data: String?) {
        self.mimeType = mimeType
        self.size = size
        self.data = data
    }
}

extension AgentActivity {
    /// Bytes of its frame, about.
    package var size: Int {
        /// What JSON has around a text.
        let frame = 64
        switch self {
        case .thought(let text): return frame + text.utf8.count
        case .plan(let steps): return steps.reduce(frame) { $0 + frame + $1.text.utf8.count }
        case .tool(let tool):
            let places = tool.locations.reduce(frame + tool.title.utf8.count) { $0 + frame + $1.path.utf8.count }
            return tool.changes.reduce(places) { $0 + frame + $1.path.utf8.count + $1.diff.utf8.count }
        case .media(let media): return frame + (media.data?.utf8.count ?? 0)
        }
    }

    /// - Returns: The same with other texts for people.
    func mappingTexts(_ change: (String) -> String) -> AgentActivity {
        switch self {
        case .thought(let text): return .thought(change(text))
        case .plan(let steps): return .plan(steps.map { AgentPlanStep(text: change($0.text), status: $0.status) })
        case .tool(var tool):
            tool.title = change(tool.title)
            for index in tool.locations.indices { tool.locations[index].path = change(tool.locations[index].path) }
            tool.changes = tool.changes.map { .init(path: change($0.path), diff: change($0.diff)) }
            return .tool(tool)
        case .media: return self
        }
    }
}
