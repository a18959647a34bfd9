/// A decision that the host's owner made in advance about tools of the agent. It applies to a tool for which all of its
/// conditions hold.
package struct AgentRule: Codable, Sendable, Hashable, Identifiable {
    /// The effect of a rule: the tool is allowed, a person is asked, or the tool is refused.
    package enum Effect: String, Codable, Sendable, Hashable, CaseIterable {
        case allow, ask, deny
    }

    /// The kinds of tools that rules can be for.
    package static let kinds = ToolReport.kinds

    /// The rule's number: from 1; never used again.
    package var id: Int64
    /// The effect on the tools that the rule applies to.
    package var effect: Effect
    /// The project's id; nil for all projects.
    package var projectId: String?
    /// The project's name, for people; nil for all projects.
    package var projectName: String?
    /// The kind of tool, one of ``kinds``; nil for any.
    package var kind: String?
    /// The first words of a command; nil for any.
    package var command: String?
    /// A directory or file of the project, relative to it; nil for any. A rule has a command or a path, not both.
    package var path: String?

    /// - Parameter id: Default: 0, for a rule that is yet to be added.
    package init(
        id: Int64 = 0,
        effect: Effect,
        projectId: String? = nil,
        kind: String? = nil,
        command: String? = nil,
        path: String? = nil
    ) {
        self.id = id
        self.effect = effect
        self.projectId = projectId
        self.kind = kind
        self.command = command
        self.path = path
    }

    /// The rule in words, as it was given: `allow execute, command “git status”`.
    package var text: String {
        var parts = [kind ?? "any tool"]
        if let command { parts.append("command “\(command)”") }
        if let path { parts.append("in \(path)") }
        return "\(effect.rawValue) \(parts.joined(separator: ", "))"
    }
}
