/// A question of the agent: may it go on?
package struct AICLIPermissionRequest: Sendable, Hashable {
    package var sessionID: String?
    /// The question, for people. It is the peer's text.
    package var prompt: String
    /// The words that the host takes for an answer. Default: `y` and `n`.
    package var options: [String]
    /// The tool that is asked for, where the host names it.
    package var tool: String?

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

    /// - Returns: Nil for a question without words.
    init?(_ data: AICLIValue, tool: String?) {
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

    /// The word that allows it once.
    package var allowing: String {
        options.first { Self.yes.contains($0.lowercased()) } ?? "y"
    }

    /// The word that denies it.
    package var denying: String {
        options.first { Self.no.contains($0.lowercased()) } ?? "n"
    }

    /// Whether yes and no are all that there is to say.
    package var isYesOrNo: Bool {
        options.allSatisfy { (Self.yes + Self.no).contains($0.lowercased()) }
    }

    /// Whether the tools that the user has allowed cover it. A question that names no tool is covered by all only.
    ///
    /// Servers seldom name the tool beside the question: then the question has to name it, as a tool, and no other one.
    ///
    /// - Parameter allowedTools: Nil: all.
    package func isCovered(by allowedTools: [String]?) -> Bool {
        guard let allowedTools else { return true }
        let named = tool.map { [$0] } ?? AICLIToolNames.named(in: prompt)
        return !named.isEmpty
            && named.allSatisfy { name in allowedTools.contains { $0.lowercased() == name.lowercased() } }
    }
}

/// Who is asked where the tools that the user has allowed do not cover a question.
///
/// Gives one of the request's options, or nil to deny.
package typealias AICLIPermissionAnswering = @Sendable (AICLIPermissionRequest) async throws -> String?
