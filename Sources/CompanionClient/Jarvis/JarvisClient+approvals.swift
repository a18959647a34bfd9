package import CompanionWire
import Logging
import NIOHTTP1

extension JarvisClient {
    /// `GET /health`.
    package func daemonHealth() async throws -> JarvisHealth {
        do {
            return try await json(.GET, path: "/health", as: JarvisHealth.self)
        } catch let error as CompanionClientError where [.badAnswer, .notFound, .badRequest].contains(error.code) {
            // A daemon refuses nobody who asks how it is.
            var error = error
            error.code = .notACompanion
            error.message = "The server on \(base) is not a Jarvis daemon."
            error.advice = Self.findPort
            throw error
        }
    }

    /// The requests that wait for a decision, each once, oldest first.
    package func pending() async throws -> JarvisPending {
        let list = try await json(.GET, path: "/approval/pending", as: LossyArray<JarvisApproval>.self)
        var seen: Set<JarvisApprovalID> = []
        let waiting = list.elements.filter { $0.status == .pending && seen.insert($0.id).inserted }
        let sorted = waiting.sorted { left, right in
            switch (left.requestedAt, right.requestedAt) {
            case (let first?, let second?) where first != second: first < second
            case (nil, _?): false
            case (_?, nil): true
            default: left.id.description < right.id.description
            }
        }
        return JarvisPending(approvals: sorted, unreadable: list.dropped)
    }

    /// Returns the state of a request; nil if the daemon has none with the id.
    ///
    /// - Throws: ``CompanionClientError``: `badAnswer` if the daemon answers about another request, and as every
    ///   request does.
    package func state(of id: JarvisApprovalID) async throws -> JarvisApprovalState? {
        do {
            let state = try await json(.GET, path: "/approval/status/\(id)", as: JarvisApprovalState.self)
            guard state.id.uppercased == id.uppercased else {
                throw CompanionClientError(
                    .badAnswer,
                    message: "\(base) answered about a different request."
                )
            }
            return state
        } catch let error as CompanionClientError where error.code == .notFound {
            return nil
        }
    }
}

extension ApprovalAnswer {
    /// Returns the state that a request has at a daemon after this answer.
    ///
    /// - Throws: ``CompanionClientError`` for an answer that daemons do not accept; they insist on a reason for no.
    func jarvisStatus() throws -> JarvisApprovalStatus {
        switch self {
        case .allow(always: false): return .approved
        case .reject(always: false, .some): return .rejected
        case .allow, .reject, .option, .named, .filled, .dismissed, .cancelled: throw Self.refusedByJarvis
        }
    }

    fileprivate static let refusedByJarvis = CompanionClientError(
        .badRequest,
        message: "Jarvis daemons accept only approve, or reject with a reason.",
        delivery: .notSent
    )
}

extension JarvisClient {
    private struct Reason: Encodable, Sendable {
        var reason: String
    }

    /// Decides a request that nobody has decided, once.
    ///
    /// Reads the state of the request first, because a daemon accepts a second decision like the first one. Reads it
    /// again afterwards: the decision that it shows then is the one that counts. Callers have to keep decisions of this
    /// machine from coming in between.
    ///
    /// - Returns: The daemon's answer. Its `message` is nil if only the request's state is known.
    /// - Throws: ``JarvisDecisionError``, ``CompanionClientError``.
    package func decide(_ id: JarvisApprovalID, with answer: ApprovalAnswer) async throws -> JarvisReceipt {
        // All steps at one base URL, also where a watch changes it meanwhile.
        try await at(base).decideHere(id, with: answer)
    }

    private func decideHere(_ id: JarvisApprovalID, with answer: ApprovalAnswer) async throws -> JarvisReceipt {
        let wanted = try answer.jarvisStatus()
        guard let before = try await state(of: id) else { throw gone(id) }
        guard before.status == .pending else { throw decided(before) }
        let receipt: JarvisReceipt
        do {
            receipt = try await send(answer, for: before.id)
        } catch let error as CompanionClientError where error.delivery != .notSent {
            // The daemon may have acted on it, even though its answer was lost. Daemons also answer 500 if they do not
            // know the id (jarvis, Errors).
            do {
                return try await confirm(wanted, for: before.id) { state -> any Error in
                    if state.status == .pending { error } else { decided(state) }
                }
            } catch is CompanionClientError {
                // The result is unknown: report the first error, not why the check failed.
                throw error
            }
        }
        if receipt.id.uppercased == id.uppercased, receipt.status == wanted {
            return try await winner(receipt, wanted: wanted, of: before.id)
        }
        return try await confirm(wanted, for: before.id) {
            JarvisDecisionError(
                .undecided,
                id: id,
                status: $0.status,
                description: "the daemon at \(base) accepted the decision, but says that the request is \($0.status)"
            )
        }
    }

    /// Reads which decision counts: someone else may have decided before this one or after it.
    ///
    /// If that cannot be read, or the daemon no longer has the decided request, the daemon's answer to the decision
    /// counts.
    private func winner(
        _ receipt: JarvisReceipt,
        wanted: JarvisApprovalStatus,
        of id: JarvisApprovalID
    ) async throws -> JarvisReceipt {
        let after: JarvisApprovalState?
        do {
            after = try await state(of: id)
        } catch let error as CompanionClientError {
            logger.debug("the look after a decision failed", metadata: ["error": "\(error)"])
            return receipt
        }
        guard let after, after.status != wanted else { return receipt }
        throw JarvisDecisionError(
            .overruled,
            id: id,
            status: after.status,
            description:
                "the daemon at \(base) received the decision, but someone else decided first: the request \(id) is \(after.status)"
        )
    }

    private func send(_ answer: ApprovalAnswer, for id: JarvisApprovalID) async throws -> JarvisReceipt {
        switch answer {
        case .allow:
            try await json(.POST, path: "/approval/approve/\(id)", as: JarvisReceipt.self)
        case .reject(_, let reason?):
            try await json(.POST, path: "/approval/reject/\(id)", body: Reason(reason: reason), as: JarvisReceipt.self)
        case .reject, .option, .named, .filled, .dismissed, .cancelled: throw ApprovalAnswer.refusedByJarvis
        }
    }

    /// Reads the request again, and fails where it is not what was decided.
    private func confirm(
        _ wanted: JarvisApprovalStatus,
        for id: JarvisApprovalID,
        otherwise error: (JarvisApprovalState) -> any Error
    ) async throws -> JarvisReceipt {
        guard let after = try await state(of: id) else { throw gone(id) }
        guard after.status == wanted else { throw error(after) }
        return JarvisReceipt(id: after.id, status: after.status, message: nil)
    }

    private func gone(_ id: JarvisApprovalID) -> JarvisDecisionError {
        JarvisDecisionError(
            .gone,
            id: id,
            description: "the daemon at \(base) does not have the request \(id), or no longer has it"
        )
    }

    private func decided(_ state: JarvisApprovalState) -> JarvisDecisionError {
        let when = state.resolvedAt.map { " at \(CompanionTimestamp.string(from: $0))" } ?? ""
        return JarvisDecisionError(
            .alreadyDecided,
            id: state.id,
            status: state.status,
            description: "the request \(state.id) is already \(state.status)\(when); nothing was changed"
        )
    }
}
