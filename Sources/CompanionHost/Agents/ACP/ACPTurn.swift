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
    }

    let questions: AsyncStream<Asked>
    private let source: AsyncStream<Asked>.Continuation
    private let state = NIOLockedValueBox(State())
    private let emit: @Sendable (AgentEvent) -> Void
    /// Tells readers the mode that the session is in now, and throws why it may not go on in it.
    private let checkMode: @Sendable () throws(AgentError) -> Void
    /// Ends the prompt before its time.
    private let stop: @Sendable () -> Void
    private let maximumUpdates: Int

    init(
        maximumUpdates: Int,
        emit: @escaping @Sendable (AgentEvent) -> Void,
        checkMode: @escaping @Sendable () throws(AgentError) -> Void,
        stop: @escaping @Sendable () -> Void
    ) {
        (questions, source) = AsyncStream.makeStream()
        self.emit = emit
        self.checkMode = checkMode
        self.stop = stop
        self.maximumUpdates = maximumUpdates
    }

    var listener: ACPConnection.Listener {
        ACPConnection.Listener(update: update, question: ask, withdrawn: withdraw)
    }

    private func update(_ update: ACPUpdate) {
        let (events, isFlooded) = state.withLockedValue { state in
            (state.conversation.take(update), state.conversation.updates > maximumUpdates)
        }
        for event in events { emit(event) }
        switch update {
        case .mode, .modes:
            do {
                try checkMode()
            } catch {
                fail(error)
            }
        default: break
        }
        if isFlooded { fail(AgentError(message: "The agent sent updates without end: the turn was ended")) }
    }

    private func ask(_ question: ACPQuestion) {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        let asked = state.withLockedValue { state in
            state.open[question.key] = continuation
            return Asked(key: question.key, question: state.conversation.question(question), end: end)
        }
        emit(.tool(asked.question.call))
        source.yield(asked)
    }

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
        prompt: @escaping @Sendable () async throws -> ACPValue,
        ask: @escaping @Sendable (AgentQuestion) async -> AgentDecision,
        decide: @escaping @Sendable (Int, AgentDecision) -> Void
    ) async throws {
        let answer: ACPValue
        do {
            answer = try await answered(prompt, ask, decide)
        } catch {
            // An agent may not obey when its turn is ended: why it was ended is what counts.
            throw state.withLockedValue { $0.failure } ?? error
        }
        let (failure, events) = state.withLockedValue { ($0.failure, $0.conversation.finish(answer)) }
        for event in events { emit(event) }
        if let failure { throw failure }
        try check(ACPStopReason(answer))
    }

    private func answered(
        _ prompt: @escaping @Sendable () async throws -> ACPValue,
        _ ask: @escaping @Sendable (AgentQuestion) async -> AgentDecision,
        _ decide: @escaping @Sendable (Int, AgentDecision) -> Void
    ) async throws -> ACPValue {
        try await withThrowingTaskGroup(of: ACPValue?.self) { group in
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
            var answer: ACPValue = .null
            while let result = try await group.next() { answer = result ?? answer }
            return answer
        }
    }

    /// Puts a question, until it is answered or needs no answer any more.
    private static func put(
        _ asked: Asked,
        _ ask: @escaping @Sendable (AgentQuestion) async -> AgentDecision
    ) async -> AgentDecision {
        await withTaskGroup { group in
            group.addTask { await ask(asked.question) }
            group.addTask {
                for await _ in asked.end {}
                return .cancelled
            }
            let decision = await group.next() ?? .cancelled
            group.cancelAll()
            return decision
        }
    }

    private func check(_ reason: ACPStopReason) throws {
        switch reason {
        case .endTurn: break
        case .maxTokens: emit(.notice("The answer ends here: the model's limit of tokens is reached."))
        case .maxTurnRequests:
            emit(.notice("The answer ends here: the agent's limit of requests is reached. Send “go on”."))
        case .refusal: throw AgentError(message: "The agent refused to answer this")
        case .cancelled:
            try Task.checkCancellation()
            throw AgentError(message: "The agent ended the turn before it was done")
        case .other(let reason): emit(.notice("The answer ends here: \(reason.scalars(atMost: 100))."))
        }
    }
}
