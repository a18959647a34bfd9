package import CompanionWire
package import FoundationEssentials

/// A request for approval, at a host of any family. All texts are the requester's: sanitise them before they reach a
/// terminal.
package struct Approval: Sendable, Hashable, Identifiable {
    package var id: String
    /// What the requester wants to do.
    package var action: String
    /// What sort of tool it is about, such as `edit` or `execute`; empty for none.
    package var kind = ""
    package var reason: String?
    package var requestedBy: String?
    package var requestedAt: Date?
    /// When the request is rejected without an answer; nil if it never expires.
    package var expiresAt: Date?
    /// ``pending``, `approved`, `rejected` or another word of the host.
    package var status: String
    package var resolvedAt: Date?
    /// Who decided; nil if nobody has, or the host does not say.
    package var decidedBy: String?
    package var details: [String: String]?
    /// What it is about in full: a command, a difference, or JSON; nil in lists.
    package var arguments: String?
    /// The possible answers; nil if there are only approve and reject.
    package var options: [AgentOption]?
    /// The id of the option that was chosen.
    package var option: String?
    /// Whether this device may decide.
    package var mayDecide = true
    /// Whether this device may choose an answer for later requests too.
    package var mayAlways = false
    /// What the host said of a decision.
    package var message: String?
    /// Whether the host's answer to the decision was lost, so that only the request's state is known.
    package var wasAnswerLost = false
    package var chatID: String?
    package var turnID: String?
    /// The agent's mode when it asked; nil if unknown.
    package var mode: AgentMode?
    /// When the agent went on after the decision; nil where it did not yet, or the host does not tell.
    package var continuedAt: Date?

    /// The status of a request that waits.
    package static let pending = "pending"

    package var isPending: Bool { status.isSame(as: Self.pending) }

    package init(id: String, action: String, status: String) {
        (self.id, self.action, self.status) = (id, action, status)
    }
}

/// The requests of a host.
package struct ApprovalList: Sendable, Hashable {
    /// Those that wait first, the oldest first.
    package var approvals: [Approval]
    /// How many could not be read.
    package var unreadable: Int

    package init(approvals: [Approval], unreadable: Int) {
        (self.approvals, self.unreadable) = (approvals, unreadable)
    }
}

/// A host that asks for approvals.
package protocol ApprovalDeciding: Sendable {
    /// Where the host is asked, for people.
    var place: String { get }
    /// Whether the host insists on a reason for a rejection.
    var needsReason: Bool { get }

    /// - Parameter all: Whether requests that wait no more are wanted as well, as far as the host lists them.
    func approvals(all: Bool) async throws -> ApprovalList
    /// A request with all that it is about; nil if the host has none with the id.
    func approval(id: String) async throws -> Approval?
    /// Answers a request, once.
    ///
    /// - Returns: The request as it is now.
    func decide(_ approval: Approval, _ answer: ApprovalAnswer) async throws -> Approval
    /// Where a request stands that waited. Default: ``approval(id:)``.
    ///
    /// - Returns: nil if the host has it no more.
    func state(of approval: Approval) async throws -> Approval?
    /// Prepares to ask once more. Default: does nothing.
    ///
    /// - Parameters:
    ///   - number: How often the host was asked before.
    ///   - failures: How often in a row it did not answer.
    /// - Returns: Whether the host is asked at another place from now on.
    func prepareLook(_ number: Int, failures: Int) async throws -> Bool
    /// Waits for news of requests until the task is cancelled. Default: returns at once.
    ///
    /// - Parameter tell: Called with each piece of news.
    /// - Throws: ``CompanionClientError`` if the host cannot tell.
    func awaitNews(_ tell: (ApprovalNews) -> Void) async throws
}

/// What a host tells of its requests by itself.
package enum ApprovalNews: Sendable, Hashable {
    /// Requests may have come or gone: it is worth asking for them.
    case changed
    /// The agent went on after the decision of a request, by its id.
    case continued(String)
}

extension ApprovalDeciding {
    package var needsReason: Bool { false }

    package func state(of approval: Approval) async throws -> Approval? {
        try await self.approval(id: approval.id)
    }

    package func prepareLook(_ number: Int, failures: Int) async throws -> Bool { false }

    package func awaitNews(_ tell: (ApprovalNews) -> Void) async throws {}
}
