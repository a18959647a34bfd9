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

    /// An empty list of options becomes the default.
    package init(
        sessionID: String? = nil,
        prompt: String,
        options: [String] = ["y", "n"],
        tool: String? = nil
    ) {
        self.sessionID = sessionID
        self.prompt = prompt
        self.options = options.isEmpty ? ["y", "n"] : options
        self.tool = tool
    }

    /// - Returns: nil if the question has no text.
    init?(_ data: JSONValue, tool: String?) {
        guard let prompt = data.text("prompt", "permissionPrompt", "message", "text", "content") else { return nil }
        self.init(
            sessionID: data.text("sessionId"),
            prompt: prompt,
            options: data["options"]?.array?.compactMap(\.text) ?? [],
            tool: tool
        )
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
        return Approval(id: "", title: prompt, options: options)
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
