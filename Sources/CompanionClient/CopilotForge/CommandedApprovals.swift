package import CompanionWire

/// The questions of the agent of a host of protocol v2.
package struct CommandedApprovals: ApprovalDeciding {
    private let client: CompanionAPIClient

    package init(client: CompanionAPIClient) {
        self.client = client
    }

    package var place: String { "\(client.target)" }

    package func approvals(all: Bool) async throws -> ApprovalList {
        let list: LossyArray<Approval>
        do {
            let target = "/companion/approvals\(all ? "?all=1" : "")"
            list = try await client.json(.get(target), as: ApprovalsListResponse.self).approvals
        } catch let error as CompanionClientError where error.code == .notFound {
            throw CompanionClientError(
                .unsupportedVersion,
                message: "\(client.target) is too old: its agent's questions are answered at the host.",
                underlying: error
            )
        }
        return ApprovalList(approvals: list.elements, unreadable: list.dropped)
    }

    package func approval(id: String) async throws -> ApprovalResponse? {
        do {
            let target = "/companion/approvals/\(try client.segment(id, of: "question"))"
            let limits = client.configuration.limits
            return try await client.json(
                .get(target),
                as: ApprovalResponse.self,
                upTo: max(limits.message, limits.body)
            )
        } catch let error as CompanionClientError where error.code == .notFound {
            return nil
        }
    }

    package func decide(_ approval: Approval, with answer: ApprovalAnswer) async throws -> DecidedApproval {
        let option: ApprovalOption?
        do {
            // Without an option that rejects once, the host knows how to reject.
            option = try answer.option(of: approval.options ?? [], mayAlways: false)
        } catch {
            throw CompanionClientError(.badRequest, message: "\(error).", delivery: .notSent)
        }
        var content: [String: JSONValue]?
        if case .filled(let values) = answer { content = values.mapValues(\.signable) }
        return DecidedApproval(
            try await client.decide(approvalID: approval.id, optionID: option?.id, content: content)
        )
    }

    /// Also reports when the live connection breaks or is back, because events in between are not sent again.
    package func awaitNews(_ tell: (ApprovalNews) -> Void) async throws {
        let news: [LiveEvent.Kind] = [.hello, .approvalAsked, .approvalDecided]
        try await LiveEventStream(client: client, clock: client.clock).run { output in
            if case .event(let event) = output {
                if event.type == .approvalContinued, let id = event.approvalId { return tell(.continued(id)) }
                guard news.contains(event.type) else { return }
            }
            tell(.changed)
        }
    }
}

extension CompanionAPIClient {
    /// Answers a question of the agent.
    ///
    /// - Parameters:
    ///   - optionID: nil rejects, in whichever way the agent takes it.
    ///   - content: The values of a form.
    package func decide(
        approvalID: String,
        optionID: String?,
        content: [String: JSONValue]? = nil
    ) async throws -> Approval {
        try await result(of: .approvalDecide(approvalID: approvalID, optionID: optionID, content: content))
    }
}

extension JSONValue {
    /// The value of a field as a signed command has it: a number with a fraction, or beyond 2^53 - 1, is a text there.
    fileprivate var signable: JSONValue {
        switch self {
        case .number(let number): .string("\(number)")
        case .integer(let whole) where !CanonicalJSON.integerRange.contains(whole): .string("\(whole)")
        default: self
        }
    }
}
