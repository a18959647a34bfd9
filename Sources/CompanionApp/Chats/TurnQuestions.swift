import CompanionClient
import CompanionWire
import Identity
import NIOConcurrencyHelpers
import PairingAgent

/// Answers the questions of a host's agent while its turn runs: by what the command line allows, or by asking the user.
final class TurnQuestions: Sendable {
    /// Ends when a question needs no answer any more.
    private typealias Wait = (end: AsyncStream<Never>, over: AsyncStream<Never>.Continuation)

    private let session: HostSession
    /// Tools to say yes to.
    private let allowed: AllowedTools
    /// Whether to say no to all others.
    private let deniesRest: Bool
    /// Whether the user is asked during the turn; else the messages say how to answer.
    private let asksUser: Bool
    /// Questions to be answered, one after the other.
    private let asked: AsyncStream<ApprovalNotice>
    private let ask: AsyncStream<ApprovalNotice>.Continuation
    /// The open questions by their ids. Each has a stream that ends when the question needs no answer any more.
    private let open = NIOLockedValueBox<[ByteText: Wait]>([:])

    private static let ownerAnswers =
        "This device may not answer; the host's owner may: pairtool host approvals. To let this device answer: "
        + "pairtool host permissions DEVICE --add approve"

    init(_ session: HostSession, allowedTools: [String]?, deniesRest: Bool, asksUser: Bool) {
        (self.session, allowed, self.deniesRest) = (session, AllowedTools(allowedTools), deniesRest)
        self.asksUser = asksUser && session.interaction.canAsk
        (asked, ask) = AsyncStream.makeStream()
    }

    /// Runs a body, and answers what it takes meanwhile.
    func answering<R>(_ body: () async throws -> R) async throws -> R {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await notice in asked { await answer(notice) }
            }
            defer {
                ask.finish()
                group.cancelAll()
            }
            return try await body()
        }
    }

    /// Takes what the host says of a question.
    func take(_ notice: ApprovalNotice) {
        switch notice.phase {
        case .asked:
            let (end, over) = AsyncStream.makeStream(of: Never.self)
            open.withLockedValue { $0[ByteText(notice.id)] = (end, over) }
            ask.yield(notice)
        case .decided: open.withLockedValue { $0[ByteText(notice.id)] }?.over.finish()
        case .continued: break
        }
    }

    /// Answers a question, unless somebody else does.
    private func answer(_ notice: ApprovalNotice) async {
        guard let end = open.withLockedValue({ $0[ByteText(notice.id)]?.end }) else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in await decide(notice) }
            group.addTask { for await _ in end {} }
            await group.next()
            group.cancelAll()
        }
        open.withLockedValue { _ = $0.removeValue(forKey: ByteText(notice.id)) }
    }

    /// The answer that the options of the command line give to a question; nil if the user is to be asked.
    private func usualAnswer(_ notice: ApprovalNotice) -> ApprovalAnswer? {
        // No option of the command line knows what to answer to a form.
        if !notice.asksPerson, allowed.covers(kind: notice.kind, title: notice.title) { return .allow(always: false) }
        return deniesRest ? .reject(always: false, reason: nil) : nil
    }

    private func decide(_ notice: ApprovalNotice) async {
        guard let approvals = session.offer.approvals else { return }
        do {
            if let answer = usualAnswer(notice) {
                try await PersistentDecision(approvals: approvals).run(id: notice.id, answer: answer) { error in
                    let failure = AppError(describing: error.naming(session.host))
                    session.interaction.warn(failure.adding("Trying again to answer the agent."))
                }
            } else if asksUser {
                try await askUser(notice.id, at: approvals)
            } else {
                let mode = notice.mode.map { " (\($0.text))" } ?? ""
                let id = notice.id.shortID
                session.interaction.say(
                    "The agent waits for an answer: \(notice.title)\(mode). To see what it "
                        + "\(notice.asksPerson ? "asks" : "would do"): pairtool approvals show \(id). To answer: "
                        + "pairtool approvals \(notice.asksPerson ? "answer" : "approve") \(id), or reject \(id)"
                )
                await TurnNotifier(environment: session.environment, hostName: session.host.name).show(
                    .question,
                    chat: ""
                )
            }
        } catch let error as CompanionClientError where error.code == .alreadyDecided {
            // The turn itself tells by whom.
        } catch let error as CompanionClientError where error.hostCode == .permissionDenied {
            session.interaction.say(Self.ownerAnswers)
        } catch let error as CompanionClientError {
            // The turn goes on, and the question can be answered elsewhere.
            session.interaction.warn(error.naming(session.host))
        } catch {
            // Ctrl-C is about the turn, not about the question.
        }
    }

    /// Asks the user, and sends the answer.
    ///
    /// - Throws: `CancellationError` when the user interrupts; `CompanionClientError`.
    private func askUser(_ id: String, at approvals: any ApprovalDeciding) async throws {
        guard let asked = try await approvals.approval(id: id), asked.approval.isPending else { return }
        let environment = session.environment
        await TurnNotifier(environment: environment, hostName: session.host.name).show(.question, chat: "")
        let answer = try await environment.interaction.answer(
            asked.approval,
            mayDecide: asked.mayDecide,
            mayAlways: asked.mayAlways
        )
        if let answer { _ = try await approvals.decide(asked.approval, with: answer) }
        if !asked.mayDecide { session.interaction.say(Self.ownerAnswers) }
    }
}
