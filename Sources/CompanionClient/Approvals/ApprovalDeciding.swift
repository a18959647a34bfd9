package import CompanionWire

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

/// A decision that a host took.
package struct DecidedApproval: Sendable, Hashable {
    /// The request as it is now.
    package var approval: Approval
    /// The host's message.
    package var message: String?
    /// Whether the host's answer was lost, so that only the request's state is known.
    package var wasAnswerLost: Bool

    package init(_ approval: Approval, message: String? = nil, wasAnswerLost: Bool = false) {
        self.approval = approval
        self.message = message
        self.wasAnswerLost = wasAnswerLost
    }
}

/// A host that asks for approvals.
package protocol ApprovalDeciding: Sendable {
    /// The address at which the host is asked, as text for people.
    var place: String { get }
    /// Whether the host insists on a reason for a rejection.
    var needsReason: Bool { get }

    /// - Parameter all: Whether requests that wait no more are wanted as well, as far as the host lists them.
    func approvals(all: Bool) async throws -> ApprovalList
    /// A request with all that it is about, and what this device may do; nil if the host has none with the id.
    func approval(id: String) async throws -> ApprovalResponse?
    /// Answers a request, once.
    func decide(_ approval: Approval, with answer: ApprovalAnswer) async throws -> DecidedApproval
    /// Returns the current state of a request that was waiting. Default: asks with ``approval(id:)``.
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

/// News about requests that a host sends by itself.
package enum ApprovalNews: Sendable, Hashable {
    /// Requests may have come or gone: it is worth asking for them.
    case changed
    /// The agent went on after the decision of a request, by its id.
    case continued(String)
}

extension ApprovalDeciding {
    package var needsReason: Bool { false }

    package func state(of approval: Approval) async throws -> Approval? {
        try await self.approval(id: approval.id)?.approval
    }

    package func prepareLook(_ number: Int, failures: Int) async throws -> Bool { false }

    package func awaitNews(_ tell: (ApprovalNews) -> Void) async throws {}
}
