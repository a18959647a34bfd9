package import CompanionWire
import FoundationEssentials
import GRDB
import Logging
import NIOConcurrencyHelpers

/// Keeps the agent's questions until a person answers them. Each is stored before it is asked, answered once, and
/// answered with no when its time is over.
package final class AgentQuestions: Sendable {
    /// Questions that are kept once they are answered.
    static let kept = 1000
    /// Questions that need no answer any more which a list has.
    static let listed = 100

    /// Whether devices may choose answers that go for later questions too. Otherwise only the owner may.
    let devicesMayAlways: Bool
    /// The projects whose questions devices may see and answer; nil for all.
    private let catalog: ProjectCatalog?
    private let database: HostDatabase
    private let clock: HostClock
    private let timeout: TimeInterval
    private let events: HostEventSink
    private let logger: Logger
    /// The turns that wait for an answer, by the ids of their questions.
    private let waiting = NIOLockedValueBox<[String: AsyncStream<Approval>.Continuation]>([:])
    /// The values of forms that are being answered, by the ids of their questions, until their turns have them. They are
    /// stored nowhere else.
    private let filled = NIOLockedValueBox<[String: [String: JSONValue]]>([:])
    /// When the agent went on after a question, the oldest first; known until the host ends.
    private let continued = NIOLockedValueBox<[(id: String, at: Date)]>([])

    /// Ends the questions that an earlier host left open: the agent that asked is gone.
    init(
        database: HostDatabase,
        clock: HostClock,
        timeout: Duration,
        devicesMayAlways: Bool = false,
        catalog: ProjectCatalog? = nil,
        events: HostEventSink,
        logger: Logger
    ) throws(CompanionHostError) {
        self.database = database
        self.clock = clock
        self.timeout = timeout / .seconds(1)
        self.devicesMayAlways = devicesMayAlways
        self.catalog = catalog
        self.events = events
        self.logger = logger
        let now = clock.now()
        let ended = try database.writeBlocking { database in
            try Approval.open(in: database).map { question in
                var question = question
                try question.end(as: .interrupted, option: nil, by: nil, at: now, in: database)
                return question
            }
        }
        ended.forEach(tell)
    }

    /// Puts a question that a turn's agent has to the people who may answer it, and tells the turn's readers when it is
    /// asked and when it is decided. Waits for the answer, for the end of the question's time, or for the end of the
    /// turn.
    ///
    /// Every question of an agent passes here, before anybody sees it.
    @Sendable func ask(
        _ asked: AgentQuestion,
        turn: AgentTurn,
        emit: @Sendable (TurnEvent) -> Void
    ) async -> ApprovalAnswer {
        let now = clock.now()
        let expiresAt = now.addingTimeInterval(timeout)
        var question = Approval(asked)
        (question.chatId, question.turnId, question.mode) = (turn.chatID, turn.id, turn.mode)
        (question.askedAt, question.expiresAt) = (now, expiresAt)
        if case .form(let form) = asked, let refusal = form.refusal {
            await refuse(question)
            emit(.status(refusal))
            return asked.rejection
        }
        let (answers, answer) = AsyncStream.makeStream(of: Approval.self, bufferingPolicy: .bufferingOldest(1))
        waiting.withLockedValue { $0[question.id] = answer }
        defer {
            waiting.withLockedValue { _ = $0.removeValue(forKey: question.id) }
            filled.withLockedValue { _ = $0.removeValue(forKey: question.id) }
        }
        do {
            try await database.write(durably: true) { [question] in try question.insert(in: $0) }
        } catch {
            logger.error("question not stored", metadata: .failure(error, ["chat": "\(turn.chatID)"]))
            emit(.status("The question could not be stored: rejected"))
            return asked.rejection
        }
        events.send(.questionAsked(question.withoutArguments))
        if let request = asked.acpRequest(question.id) { emit(.acp(ACPFrame(.request(request)))) }
        emit(.question(ApprovalNotice(.asked, of: question)))
        guard var ended = await ending(of: question.id, at: expiresAt, answers: answers) else {
            emit(.status("The answer could not be stored: rejected"))
            return asked.rejection
        }
        // The turn ended in the moment of the answer: the agent does not get it.
        if Task.isCancelled, ended.state == .approved || ended.state == .rejected {
            ended = await end(question.id, as: .cancelled, alsoAnswered: true) ?? ended
        }
        emit(.question(ApprovalNotice(.decided, of: ended)))
        return switch ended.state {
        case .approved where question.form != nil:
            filled.withLockedValue { $0[question.id] }.map { .filled($0) } ?? .cancelled
        case .approved, .rejected: ended.option.map { .option($0) } ?? .cancelled
        case .cancelled: .cancelled
        default: asked.rejection
        }
    }

    /// - Returns: The question once it is decided; nil if that cannot be stored.
    private func ending(of id: String, at time: Date, answers: AsyncStream<Approval>) async -> Approval? {
        let decided = await withTaskGroup(of: Approval?.self) { group in
            group.addTask {
                for await answered in answers { return answered }
                return nil
            }
            group.addTask { [clock] in
                try? await clock.sleepUntil(time)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        // An answer may have come at this very moment: what is stored counts.
        return if let decided { decided } else { await end(id, as: Task.isCancelled ? .cancelled : .expired) }
    }

    /// Ends a question that nobody has answered.
    ///
    /// - Parameter alsoAnswered: Whether to end one that was answered, too.
    /// - Returns: The question as it is now; nil when that cannot be stored.
    private func end(
        _ id: String,
        as state: Approval.State,
        alsoAnswered: Bool = false
    ) async -> Approval? {
        let now = clock.now()
        do {
            let (question, isOurs) = try await database.write(durably: true) { database -> (Approval?, Bool) in
                guard var question = try Approval.find(id, in: database) else { return (nil, false) }
                let isOurs = question.state == .open || alsoAnswered
                if isOurs { try question.end(as: state, option: nil, by: nil, at: now, in: database) }
                return (question, isOurs)
            }
            if let question, isOurs { tell(question) }
            return question
        } catch {
            logger.error("end of a question not stored", metadata: .failure(error))
            return nil
        }
    }

    /// Notes in the audit that the host itself has declined a form.
    private func refuse(_ question: Approval) async {
        let now = clock.now()
        do {
            try await database.write(durably: true) { database in
                var question = question
                try question.end(as: .rejected, option: ApprovalOption.decline.id, by: .host, at: now, in: database)
            }
        } catch {
            logger.error("refusal not stored", metadata: .failure(error, ["chat": "\(question.chatId)"]))
        }
    }

    private func tell(_ question: Approval) {
        events.send(.questionEnded(question.withoutArguments))
    }

    /// Notes that the agent went on after a question.
    func note(_ event: HostEvent) {
        guard case .questionContinued(let notice, _, _) = event else { return }
        let now = clock.now()
        continued.withLockedValue { continued in
            continued.append((notice.id, now))
            if continued.count > Self.kept { continued.removeFirst() }
        }
    }

    private func withContinuations(_ questions: [Approval]) -> [Approval] {
        let times = continued.withLockedValue { $0.map { (ByteText($0.id), $0.at) } }
        let known = Dictionary(times, uniquingKeysWith: { first, _ in first })
        return questions.map { question in
            var question = question
            question.continuedAt = known[ByteText(question.id)]
            return question
        }
    }

    // MARK: Answers

    /// Answers a question.
    ///
    /// - Throws: As ``decide(_:_:by:in:)``.
    package func decide(_ id: String, with answer: ApprovalAnswer, by person: QuestionDecider) async throws -> Approval
    {
        let decided = try await database.writeChecked(durably: true) {
            try self.decide(id, with: answer, by: person, in: $0)
        }
        settle(decided)
        return decided
    }

    /// Stores the answer to a question, within a transaction; ``settle(_:)`` follows when it is committed.
    ///
    /// - Throws: ``HostError``: `approval.unknown`, also for a device that asks about a project that is not listed;
    ///   `approval.decided`, with the name of the one who was first; `request.invalid` for an answer that the agent
    ///   does not offer; `permission.denied` for one that only the owner may give.
    func decide(
        _ id: String,
        with answer: ApprovalAnswer,
        by person: QuestionDecider,
        in database: Database
    ) throws -> Approval {
        guard var question = try Approval.find(id, in: database),
            try isShown(question, isOwner: person.device == nil, in: database)
        else {
            throw HostError.approvalUnknown
        }
        guard question.state == .open else { throw HostError(.approvalDecided, question.ending) }
        if let expiresAt = question.expiresAt, clock.now() >= expiresAt {
            throw HostError(.approvalDecided, "The question has expired")
        }
        let mayAlways = person.device == nil || devicesMayAlways
        let option: ApprovalOption?
        do throws(ApprovalAnswerError) {
            option = try answer.option(of: question.options ?? [], mayAlways: mayAlways)
        } catch {
            throw HostError(.requestInvalid, error.description)
        }
        if let device = person.device, !mayAlways, option?.kind.mayLast == true {
            events.send(.alwaysRefused(question.withoutArguments, device: device))
            throw HostError(
                .permissionDenied,
                "Only the host's owner may answer for later questions too. "
                    + "To let devices do it: pairtool host --always-by devices"
            )
        }
        if let values = try values(of: answer, to: question, option: option) {
            filled.withLockedValue { $0[id] = values }
        }
        // What is not a refusal lets the agent go on, as far as is known.
        let state: Approval.State = option?.kind.isRefusal == false ? .approved : .rejected
        try question.end(as: state, option: option?.id, by: person, at: clock.now(), in: database)
        return question
    }

    /// The values of a form's answer, checked; nil for answers that have none.
    private func values(
        of answer: ApprovalAnswer,
        to question: Approval,
        option: ApprovalOption?
    ) throws -> [String: JSONValue]? {
        guard option == .accept, let form = question.form else {
            guard case .filled = answer else { return nil }
            throw HostError(.requestInvalid, "The agent asks for no values")
        }
        var given: [String: JSONValue] = [:]
        if case .filled(let values) = answer {
            given = values
        } else if !form.fields.isEmpty {
            throw HostError(.requestInvalid, "This is a form: it needs the values of its fields")
        }
        do throws(FormFaults) {
            return try form.checked(given)
        } catch {
            throw HostError(.requestInvalid, error.description)
        }
    }

    /// Gives a stored answer to the agent, even if the device that answered is gone.
    func settle(_ decided: Approval) {
        // First: the agent may go on at once, and who follows the host hears of that after the answer.
        tell(decided)
        waiting.withLockedValue { $0[decided.id] }?.yield(decided)
    }

    // MARK: Reading

    /// The open questions, the oldest first, without their full arguments.
    ///
    /// - Parameters:
    ///   - all: Whether the newest of those that need no answer any more follow, the newest first.
    ///   - isOwner: Whether the owner asks, who also sees those in projects that are not listed any more.
    /// - Throws: ``CompanionHostError`` if the database cannot be read.
    package func list(all: Bool, isOwner: Bool = true) async throws -> [Approval] {
        let found = try await database.read { database in
            let open = try Approval.open(in: database)
            let ended = try all ? Approval.ended(limit: isOwner ? Self.listed : Self.kept, in: database) : []
            let shown = try [open, ended].map { questions in
                try questions.filter { try self.isShown($0, isOwner: isOwner, in: database) }
            }
            return shown[0] + shown[1].prefix(Self.listed)
        }
        return withContinuations(found)
    }

    /// A question with its full arguments; nil for an unknown one, and for one that may not be shown.
    ///
    /// - Parameter isOwner: As of ``list(all:isOwner:)``.
    /// - Throws: ``CompanionHostError`` if the database cannot be read.
    package func question(id: String, isOwner: Bool = true) async throws -> Approval? {
        let found = try await database.read { database in
            try Approval.find(id, in: database).flatMap {
                try self.isShown($0, isOwner: isOwner, in: database) ? $0 : nil
            }
        }
        return found.flatMap { withContinuations([$0]).first }
    }

    /// Whether a person may see a question: devices see those of listed projects, as they see messages.
    private func isShown(_ question: Approval, isOwner: Bool, in database: Database) throws -> Bool {
        guard !isOwner, let catalog else { return true }
        let chat = try ChatRecord.fetchOne(database, key: ["id": question.chatId])
        return chat.map { catalog.project(id: $0.project) != nil } ?? false
    }
}
