import CompanionWire
import NIOConcurrencyHelpers

/// One prompt of a session, from its first update to its end.
final class ACPTurn: Sendable {
    /// A question that the agent waits for, until its end.
    struct Asked: Sendable {
        var key: Int
        var question: AgentQuestion
        var end: AsyncStream<Void>
    }

    private struct State {
        var conversation = ACPConversation()
        var open: [Int: AsyncStream<Void>.Continuation] = [:]
        var failure: AgentError?
        var isFlooded = false
        /// Tools that were told without all that the agent said of them.
        var shortened: Set<ByteText> = []

        /// Why the agent's updates are too many, once it is so.
        mutating func flood(_ limits: ACPConnection.Limits) -> AgentError? {
            guard !isFlooded else { return nil }
            let text: String
            if conversation.updates > limits.updates {
                text = "The agent sent updates without end"
            } else if conversation.openSize > limits.openCalls {
                text = "The agent's open tool calls are over \(limits.openCalls >> 20) MiB"
            } else {
                return nil
            }
            isFlooded = true
            return AgentError(message: "\(text): the turn was ended")
        }
    }

    let questions: AsyncStream<Asked>
    private let source: AsyncStream<Asked>.Continuation
    private let state = NIOLockedValueBox(State())
    private let reader: AgentConversation
    /// Tells the readers the session's present mode, and throws if the turn may not go on in it.
    private let checkMode: @Sendable () throws(AgentError) -> Void
    /// Ends the prompt before its time.
    private let stop: @Sendable () -> Void
    private let limits: ACPConnection.Limits
    /// Whether the readers get the agent's own words, too.
    private let tellsWords: Bool

    /// - Parameters:
    ///   - directory: The one that the agent works in.
    ///   - tellsWords: Whether the readers get the agent's own words, too.
    init(
        limits: ACPConnection.Limits,
        directory: String?,
        tellsWords: Bool = false,
        reader: AgentConversation,
        checkMode: @escaping @Sendable () throws(AgentError) -> Void,
        stop: @escaping @Sendable () -> Void
    ) {
        (questions, source) = AsyncStream.makeStream()
        self.reader = reader
        self.checkMode = checkMode
        self.stop = stop
        self.limits = limits
        self.tellsWords = tellsWords
        state.withLockedValue { $0.conversation.directory = directory }
    }

    var listener: ACPConnection.Listener {
        ACPConnection.Listener(update: update, question: ask, form: ask, withdrawn: withdraw)
    }

    private func update(_ update: ACPUpdate, raw: JSONValue) {
        let (events, flood) = state.withLockedValue { state -> ([TurnEvent]?, AgentError?) in
            // Nothing more is kept until the agent obeys.
            if state.isFlooded { return (nil, nil) }
            return (state.conversation.take(update), state.flood(limits))
        }
        if events != nil, tellsWords, raw != .null { tell(raw) }
        if events?.isEmpty == true { reader.keepAlive() }
        for event in events ?? [] { reader.emit(event) }
        switch update {
        case .mode, .modes:
            do {
                try checkMode()
            } catch {
                fail(error)
            }
        default: break
        }
        if let flood { fail(flood) }
    }

    /// Tells an update in the agent's own words.
    private func tell(_ raw: JSONValue) {
        let update = ACPWords.bounded(raw)
        if let tool = raw["toolCallId"]?.string, update != raw {
            state.withLockedValue { _ = $0.shortened.insert(ByteText(tool)) }
        }
        reader.emit(.acp(ACPFrame(.update(update))))
    }

    private func ask(_ question: ACPQuestion) {
        // Whoever is asked about a tool that was not told whole gets the host's words, which say so.
        let isWhole = state.withLockedValue { state in
            !state.shortened.contains(ByteText(question.raw["toolCall"]?["toolCallId"]?.string ?? ""))
        }
        put(question.key) { conversation in
            var tool = conversation.question(question)
            if tellsWords, isWhole { tool.acp = ACPPersonRequest.text(of: question.raw) }
            return .tool(tool)
        }
    }

    private func ask(_ form: ACPForm) {
        put(form.key) { conversation in
            var asked = conversation.form(form)
            if tellsWords { asked.acp = ACPPersonRequest.text(of: form.raw) }
            return .form(asked)
        }
    }

    /// - Parameter question: Makes the question; called under the lock.
    private func put(_ key: Int, _ question: (inout ACPConversation) -> AgentQuestion) {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        let (asked, flood) = state.withLockedValue { state -> (Asked?, AgentError?) in
            if state.isFlooded { return (nil, nil) }
            state.open[key] = continuation
            let asked = Asked(key: key, question: question(&state.conversation), end: end)
            let flood = state.flood(limits)
            return (flood == nil ? asked : nil, flood)
        }
        // The end of the turn is the answer.
        if let flood { fail(flood) }
        guard let asked else { return }
        if case .tool(let tool) = asked.question { reader.emit(.tool(tool.call)) }
        source.yield(asked)
    }

    /// Whether the agent has said or done anything.
    var hasWorked: Bool { state.withLockedValue { $0.conversation.hasWorked } }

    private func withdraw(_ key: Int) {
        state.withLockedValue { $0.open.removeValue(forKey: key) }?.finish()
    }

    /// Notes why the turn does not go on. The first reason counts.
    private func fail(_ error: AgentError) {
        let isFirst = state.withLockedValue { state in
            defer { state.failure = state.failure ?? error }
            return state.failure == nil
        }
        if isFirst { stop() }
    }

    /// Runs the prompt, and puts the agent's questions.
    ///
    /// - Parameters:
    ///   - prompt: Sends it, and returns its answer.
    ///   - answer: Puts a question.
    ///   - decide: Takes the answer to the agent.
    func run(
        prompt: @escaping @Sendable () async throws -> JSONValue,
        ask: @escaping @Sendable (AgentQuestion) async -> ApprovalAnswer,
        decide: @escaping @Sendable (Int, ApprovalAnswer) -> Void
    ) async throws {
        let answer: JSONValue
        do {
            answer = try await answered(prompt, ask, decide)
        } catch {
            // An agent may not obey when its turn is ended: why it was ended is what counts.
            throw state.withLockedValue { $0.failure } ?? error
        }
        let (failure, events) = state.withLockedValue { ($0.failure, $0.conversation.finish(answer)) }
        if tellsWords { reader.emit(.acp(ACPFrame(.answer(answer)))) }
        for event in events { reader.emit(event) }
        if let failure { throw failure }
        try check(ACPStopReason(answer))
    }

    private func answered(
        _ prompt: @escaping @Sendable () async throws -> JSONValue,
        _ ask: @escaping @Sendable (AgentQuestion) async -> ApprovalAnswer,
        _ decide: @escaping @Sendable (Int, ApprovalAnswer) -> Void
    ) async throws -> JSONValue {
        try await withThrowingTaskGroup(of: JSONValue?.self) { group in
            group.addTask { [self] in
                defer { source.finish() }
                return try await prompt()
            }
            group.addTask { [self] in
                await withDiscardingTaskGroup { group in
                    for await asked in questions {
                        group.addTask { decide(asked.key, await Self.put(asked, ask)) }
                    }
                    group.cancelAll()
                }
                return nil
            }
            var answer: JSONValue = .null
            while let result = try await group.next() { answer = result ?? answer }
            return answer
        }
    }

    /// Puts a question, until it is answered or needs no answer any more.
    private static func put(
        _ asked: Asked,
        _ ask: @escaping @Sendable (AgentQuestion) async -> ApprovalAnswer
    ) async -> ApprovalAnswer {
        await withTaskGroup { group in
            group.addTask { await ask(asked.question) }
            group.addTask {
                for await _ in asked.end {}
                return .cancelled
            }
            let answer = await group.next() ?? .cancelled
            group.cancelAll()
            return answer
        }
    }

    private func check(_ reason: ACPStopReason) throws {
        switch reason {
        case .endTurn: break
        case .maxTokens: reader.notice("The answer ends here: the model reached its token limit.")
        case .maxTurnRequests:
            reader.notice("The answer ends here: the agent reached its request limit. Send “go on”.")
        case .refusal: throw AgentError(message: "The agent refused to answer this")
        case .cancelled:
            try Task.checkCancellation()
            throw AgentError(message: "The agent ended the turn before it was done")
        case .other(let reason): reader.notice("The answer ends here: \(reason.scalars(atMost: 100)).")
        }
    }
}
