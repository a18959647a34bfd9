package import CompanionWire

/// A request of an agent to a person beside leave for a tool: values for a form, or an opened page.
package struct ProposedForm: Sendable, Hashable {
    package enum Request: Sendable, Hashable {
        case form(ApprovalForm)
        /// The URL of a page.
        case link(String)
    }

    /// Scalars of a question's title.
    private static let titleLength = 200

    /// Why it asks, in the agent's words.
    package var message: String
    package var request: Request
    /// The title of the tool call that it is about; nil for none.
    package var tool: String?
    /// Why the host declines it by itself, as a sentence; nil for one that a person decides.
    package var refusal: String?
    /// The request in the agent's own words, as JSON text, where the turn's readers want these.
    package var acp: String?

    package init(message: String, request: Request, tool: String? = nil, refusal: String? = nil) {
        (self.message, self.request, self.tool, self.refusal) = (message, request, tool, refusal)
    }

    var kind: String {
        switch request {
        case .form: Approval.formKind
        case .link: Approval.linkKind
        }
    }

    var form: ApprovalForm? { if case .form(let form) = request { form } else { nil } }

    var link: String? { if case .link(let url) = request { url } else { nil } }

    var options: [ApprovalOption] { [.accept, .decline, .dismiss] }

    /// The message in one line.
    var title: String {
        let words = message.trimmingWhitespace()
        let line = words.oneLine(atMost: Self.titleLength)
        if !line.isEmpty { return words.unicodeScalars.count <= Self.titleLength ? line : line + "…" }
        return form?.title?.oneLine(atMost: Self.titleLength) ?? (link == nil ? "A form" : "A page")
    }

    /// All of it, as text.
    var text: String {
        var parts: [String] = []
        // Before anything in the agent's words.
        if let link { parts.append("Server: \(PageLink(link)?.server ?? "unknown")\n\(link)\n") }
        if let tool { parts.append("For: \(tool)") }
        if !message.isSame(as: title) { parts.append(message) }
        if let form { parts.append(form.text) }
        return parts.joined(separator: "\n\n")
    }
}

/// A request of an agent to a person. It waits for the answer; nothing is allowed by default.
package enum AgentQuestion: Sendable, Hashable {
    case tool(ProposedTool)
    case form(ProposedForm)

    /// The request to a person in the agent's own words; nil where nobody wants these.
    func acpRequest(_ approvalID: String) -> ACPPersonRequest? {
        switch self {
        case .tool(let tool):
            tool.acp.map {
                ACPPersonRequest(approvalId: approvalID, method: ACPMessage.permissionMethod, parameters: $0)
            }
        case .form(let form):
            form.acp.map { ACPPersonRequest(approvalId: approvalID, method: ACPMessage.formMethod, parameters: $0) }
        }
    }

    /// The answer that refuses.
    package var rejection: ApprovalAnswer {
        switch self {
        case .tool(let tool): tool.rejection
        case .form: .option(ApprovalOption.decline.id)
        }
    }
}
