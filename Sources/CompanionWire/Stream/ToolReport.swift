/// A step of an agent's plan.
package struct AgentPlanStep: Codable, Sendable, Hashable {
    /// The progress of a step.
    package enum Status: String, Codable, Sendable, Hashable {
        case pending
        case inProgress = "in_progress"
        case completed
    }

    /// One step of the plan, in the agent's words.
    package var text: String
    /// How far it is.
    package var status: Status

    package init(text: String, status: Status) {
        self.text = text
        self.status = status
    }
}

/// A call of a tool, as far as it is.
package struct ToolReport: Codable, Sendable, Hashable {
    /// The progress of a call (`ToolCallStatus` of the Agent Client Protocol).
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
        /// The file's path: absolute, or relative to the project.
        package var path: String
        /// As `diff -u` writes it, or its beginning.
        package var diff: String

        package init(path: String, diff: String) {
            self.path = path
            self.diff = diff
        }
    }

    /// The agent's id of the call. It stays the same over all reports of one call.
    package var id: String
    /// The tool's work, for people.
    package var title: String
    /// The sort of the tool, such as `read`, `edit` or `execute`; empty for none.
    package var kind: String
    package var status: Status
    /// The places in files that the tool works at.
    package var locations: [AgentLocation]
    /// Its changes. Frames have them once it has ended.
    package var changes: [Change]
    /// The text that it gave, for people. Frames do not have it: it is in the details of its end.
    package var output: String?
    /// Whether the agent has asked before it used it; nil for an agent that asks nothing, because it gets no tools but
    /// those that are allowed beforehand.
    package var asked: Bool?

    private enum CodingKeys: String, CodingKey {
        case id = "toolCallID"
        case title, kind, status, locations, changes, asked
    }

    package init(
        id: String,
        title: String,
        kind: String = "",
        status: Status = .pending,
        locations: [AgentLocation] = [],
        changes: [Change] = [],
        output: String? = nil,
        asked: Bool? = nil
    ) {
        self.id = id
        self.title = title
        self.kind = kind
        self.status = status
        self.locations = locations
        self.changes = changes
        self.output = output
        self.asked = asked
    }

    /// Whether nothing more is done for it.
    package var hasEnded: Bool { status == .completed || status == .failed }

    /// - Returns: The same with other texts for people.
    func mappingTexts(_ change: (String) -> String) -> ToolReport {
        var tool = self
        tool.title = change(title)
        tool.locations = locations.map { AgentLocation(path: change($0.path), line: $0.line) }
        tool.changes = changes.map { Change(path: change($0.path), diff: change($0.diff)) }
        return tool
    }
}

/// A place in a file that an agent works at.
package struct AgentLocation: Codable, Sendable, Hashable {
    /// Absolute, or relative to the project.
    package var path: String
    /// The line, from 1; nil if the agent names none.
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
