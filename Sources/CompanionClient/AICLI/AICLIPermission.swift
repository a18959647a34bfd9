package import CompanionWire

/// A request for permission from the agent.
package struct AICLIPermissionRequest: Sendable, Hashable {
    /// The session that asks; nil if the host does not name it.
    package var sessionID: String?
    /// The question to show. The text comes from the peer.
    package var prompt: String
    /// The words that the host accepts as an answer. Default: `y` and `n`.
    package var options: [String]
    /// The tool that needs the permission, if the host names it.
    package var tool: String?
    /// The other members of the request: a line for each, `name: value`, by name. Empty for none.
    package var details: String

    /// An empty list of options becomes the default.
    package init(
        sessionID: String? = nil,
        prompt: String,
        options: [String] = ["y", "n"],
        tool: String? = nil,
        details: String = ""
    ) {
        self.sessionID = sessionID
        self.prompt = prompt
        self.options = options.isEmpty ? ["y", "n"] : options
        self.tool = tool
        self.details = details
    }

    /// - Returns: nil if the question has no text.
    init?(_ data: JSONValue, tool: String?) {
        let texts = ["prompt", "permissionPrompt", "message", "text", "content"]
        guard let shown = texts.first(where: { data[$0]?.text != nil }), let prompt = data[shown]?.text else {
            return nil
        }
        self.init(
            sessionID: data.text("sessionId"),
            prompt: prompt,
            options: data["options"]?.array?.compactMap(\.text) ?? [],
            tool: tool,
            details: Self.details(data, besides: Self.unshown.union([shown]), unlike: [prompt, tool ?? ""])
        )
    }

    /// Members that say nothing of what is to be done.
    private static let unshown: Set<String> = [
        "sessionId", "options", "default", "type", "timestamp", "requestId", "id",
    ]

    private static func details(_ data: JSONValue, besides names: Set<String>, unlike texts: [String]) -> String {
        (data.object ?? [:]).filter { name, value in
            let isSaid = value.string.map { text in texts.contains { $0.isSame(as: text) } } ?? false
            return !isSaid && value != .null && !names.contains(name)
        }
        .map { name, value in "\(name): \(value.string ?? String(decoding: value.json, as: UTF8.self))" }
        .sorted().joined(separator: "\n")
    }

    private static let yes = ["y", "yes", "allow", "approve", "accept", "ok"]
    private static let no = ["n", "no", "deny", "reject", "refuse", "cancel"]

    /// The word that allows the action once.
    package var allowing: String {
        options.first { Self.yes.contains($0.lowercased()) } ?? "y"
    }

    /// The word that denies the action.
    package var denying: String {
        options.first { Self.no.contains($0.lowercased()) } ?? "n"
    }

    /// The request as a person answers it. Its options are the words, which are also their ids.
    package var approval: Approval {
        let options = self.options.map { word in
            let small = word.lowercased()
            var kind = ApprovalOption.Kind.other
            if Self.no.contains(small) { kind = .rejectOnce }
            if Self.yes.contains(small) { kind = .allowOnce }
            return ApprovalOption(id: word, name: word, kind: kind)
        }
        let (title, rest) = prompt.cut(at: "\n").map { (String($0.before), String($0.after)) } ?? (prompt, "")
        let arguments = [rest, details].filter { !$0.isEmpty }.joined(separator: "\n")
        return Approval(
            id: "",
            title: title,
            kind: tool ?? "",
            arguments: arguments.isEmpty ? nil : arguments,
            options: options
        )
    }

    /// The word that an answer means; nil to deny.
    package func word(for answer: ApprovalAnswer) -> String? {
        (try? answer.option(of: approval.options ?? [], mayAlways: false))?.id
    }

    /// Whether the tools that the user allowed cover the question. A question that names no tool is covered only if all
    /// tools are allowed.
    ///
    /// Servers rarely send the tool's name separately. In that case the text must name the tool, and name no tool that
    /// is not allowed.
    ///
    /// - Parameter allowedTools: nil allows all tools.
    package func isCovered(by allowedTools: [String]?) -> Bool {
        guard let allowedTools else { return true }
        let named = tool.map { [$0] } ?? AICLIToolNames.named(in: prompt)
        return !named.isEmpty
            && named.allSatisfy { name in allowedTools.contains { $0.lowercased() == name.lowercased() } }
    }
}

/// Answers requests that the allowed tools do not cover. They have no ids, and are in no list.
package typealias AICLIPermissionAnswering = @Sendable (Approval) async throws -> ApprovalAnswer
