package import CompanionWire
import FoundationEssentials

/// The requests of a Jarvis daemon.
package struct JarvisApprovals: ApprovalDeciding {
    /// Decides while no other process of this user does.
    package typealias Decide = @Sendable (JarvisApprovalID, ApprovalAnswer) async throws -> JarvisReceipt

    /// While the second base URL is in use, the local one is tried before every tenth look.
    private static let looksBetweenReturns = 10

    private let client: JarvisClient
    private let decide: Decide

    package init(client: JarvisClient, decide: @escaping Decide) {
        (self.client, self.decide) = (client, decide)
    }

    package var place: String { "\(client.base)" }
    package var needsReason: Bool { true }

    /// The daemon lists only what waits.
    package func approvals(all: Bool) async throws -> ApprovalList {
        let pending = try await client.pending()
        return ApprovalList(approvals: pending.approvals.map { Approval($0) }, unreadable: pending.unreadable)
    }

    /// Only a request that waits has all of its fields. An id is read in any case of its letters.
    package func approval(id word: String) async throws -> ApprovalResponse? {
        guard let id = JarvisApprovalID(word) else { return nil }
        if let waiting = try await client.pending().approvals.first(where: { $0.id.uppercased == id.uppercased }) {
            return Self.answer(Approval(waiting))
        }
        for id in [id, id.uppercased] {
            if let state = try await client.state(of: id) { return Self.answer(Approval(state)) }
        }
        return nil
    }

    /// Every client may decide, and no decision goes for later requests.
    private static func answer(_ approval: Approval) -> ApprovalResponse {
        ApprovalResponse(approval: approval, mayDecide: true, mayAlways: false)
    }

    package func decide(_ approval: Approval, with answer: ApprovalAnswer) async throws -> DecidedApproval {
        guard let id = JarvisApprovalID(approval.id) else {
            throw CompanionClientError(
                .notFound,
                message: "The daemon at \(client.base) has no request \(approval.id)."
            )
        }
        // Before the wait for other decisions.
        _ = try answer.jarvisStatus()
        let receipt = try await decide(id, answer)
        var decided = approval
        decided.id = receipt.id.description
        decided.state = Approval.State(receipt.status)
        return DecidedApproval(decided, message: receipt.message, wasAnswerLost: receipt.message == nil)
    }

    package func state(of approval: Approval) async throws -> Approval? {
        guard let id = JarvisApprovalID(approval.id), let state = try await client.state(of: id) else { return nil }
        var now = approval
        (now.state, now.decidedAt) = (Approval.State(state.status), state.resolvedAt)
        return now
    }

    package func prepareLook(_ number: Int, failures: Int) async throws -> Bool {
        if failures > 0 {
            try await client.locate()
            return false
        }
        guard number.isMultiple(of: Self.looksBetweenReturns) else { return false }
        return try await client.returnToLocal()
    }
}

extension Approval {
    init(_ request: JarvisApproval) {
        self.init(
            id: request.id.description,
            title: request.action,
            askedAt: request.requestedAt,
            state: State(request.status)
        )
        reason = request.reason
        requestedBy = request.requestedBy
        details = request.details
    }

    init(_ state: JarvisApprovalState) {
        self.init(
            id: state.id.description,
            title: state.action,
            askedAt: state.requestedAt,
            state: State(state.status),
            decidedAt: state.resolvedAt
        )
    }
}

extension Approval.State {
    /// Daemons call an open request pending.
    fileprivate init(_ status: JarvisApprovalStatus) {
        self.init(rawValue: status == .pending ? Self.open.rawValue : status.rawValue)
    }
}
