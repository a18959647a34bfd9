package import CompanionWire
package import FoundationEssentials
import History

/// Performs the actions of ``AICLITurn``: connects, sends, asks the user, waits and stores.
package struct AICLITurnRunner: Sendable {
    package let client: AICLIClient
    package let store: AICLIStore
    /// The store of the chat. Default: one that keeps no messages.
    package var messages: AICLIMessages
    /// nil denies every question that the allowed tools do not cover.
    package var permissions: (@Sendable (Approval) async throws -> ApprovalAnswer)?
    package var configuration = AICLITurn.Configuration()
    package var now: @Sendable () -> Date = { Date() }
    /// Waits between two connection attempts.
    package var pause: @Sendable (Duration) async throws -> Void = { try await ContinuousClock().sleep(for: $0) }

    init(client: AICLIClient, store: AICLIStore) {
        self.client = client
        self.store = store
        messages = AICLIMessages(store, recorder: nil)
    }

    /// Runs a turn.
    ///
    /// - Parameters:
    ///   - waiting: The prompt's id in the outbox, if it waited there.
    ///   - emit: Takes all events but the last.
    /// - Throws: ``CompanionClientError``. If its delivery is `notSent`, the host has not received the prompt.
    package func run(
        _ prompt: String,
        in workingDirectory: String,
        allowedTools: [String]?,
        waiting: String? = nil,
        emit: (TurnEvent) -> Void
    ) async throws -> FinishedTurn {
        var turn = AICLITurn(
            prompt: prompt,
            workingDirectory: workingDirectory,
            session: try store.sessions().session(for: workingDirectory),
            allowedTools: allowedTools,
            configuration: configuration
        )
        var isOut = false
        do {
            let summary = try await drive(&turn, isOut: &isOut, waiting: waiting, emit: emit)
            if let waiting { try store.updateOutbox { $0.finish(waiting) } }
            return summary
        } catch {
            try await settle(turn, isOut: isOut, waiting: waiting, after: error)
            throw error
        }
    }

    /// - Parameter isOut: Set to true just before the prompt is sent.
    private func drive(
        _ turn: inout AICLITurn,
        isOut: inout Bool,
        waiting: String?,
        emit: (TurnEvent) -> Void
    ) async throws -> FinishedTurn {
        let (inputs, sink) = AsyncStream<AICLITurn.Input>.makeStream()
        defer { sink.finish() }
        let start = ContinuousClock.now
        return try await withThrowingDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            let budget = StreamBudget(client.configuration.limits)
            var requests: AsyncStream<[UInt8]>.Continuation?
            defer { requests?.finish() }
            // Ask one question at a time: two would share the terminal, and an answer could go to the wrong one.
            let (questions, asking) = AsyncStream<AICLIPermissionRequest>.makeStream()
            defer { asking.finish() }
            group.addTask {
                for await request in questions {
                    let answer = try? await permissions?(request.approval)
                    sink.yield(.permission(request, answer: answer.flatMap { request.word(for: $0) }))
                }
            }
            // The last message of the user, for the tools.
            var message: MessageKey?
            sink.yield(.begin)
            for await input in inputs {
                let moment = AICLITurn.Moment(date: now(), elapsed: .now - start)
                for action in turn.handle(input, at: moment) {
                    switch action {
                    case .connect(let number, let wait):
                        requests?.finish()
                        let outgoing = AsyncStream<[UInt8]>.makeStream()
                        requests = outgoing.continuation
                        group.addTask {
                            await connect(number, after: wait, sending: outgoing.stream, within: budget, into: sink)
                        }
                    case .send(let request): requests?.yield(request.json(now: moment.date))
                    case .verify(let id):
                        let directory = turn.workingDirectory
                        group.addTask { await verify(id, in: directory, into: sink) }
                    case .timer(let number, let wait):
                        group.addTask {
                            try? await Task.sleep(for: wait)
                            sink.yield(.timer(number))
                        }
                    case .ask(let request): asking.yield(request)
                    case .output(let output):
                        emit(output)
                        if let message, let tool = HistoryTool(output, at: moment.date) {
                            await messages.keep(tool, of: message)
                        }
                    case .prompting:
                        // A refused prompt that is sent again in another session is already marked.
                        if !isOut { try begin(waiting) }
                        isOut = true
                    case .said(let role, let text, let time):
                        let key = await messages.say(role, text: text, at: time, in: turn.workingDirectory)
                        if role == .user { message = key }
                    case .started, .verdict, .saw:
                        try note(action, in: turn, at: moment.date)
                    case .finish(let summary): return summary
                    case .fail(let error): throw error
                    }
                }
            }
            throw CancellationError()
        }
    }
}

// MARK: The network

extension AICLITurnRunner {
    private func connect(
        _ number: Int,
        after wait: Duration,
        sending requests: AsyncStream<[UInt8]>,
        within budget: StreamBudget,
        into sink: AsyncStream<AICLITurn.Input>.Continuation
    ) async {
        let closure: AICLIClosure
        do {
            if wait > .zero { try await pause(wait) }
            guard let socket = try await AICLISocket(client: client, longestSilence: configuration.deadAfter) else {
                throw try await refusal()
            }
            sink.yield(.opened(connection: number))
            let end = try await socket.run(sending: requests, within: budget) {
                sink.yield(.frame($0, connection: number))
            }
            if end.isMute { throw try await refusal() }
            closure = end
        } catch is CancellationError {
            return
        } catch {
            let failure = CompanionClientError.transport(
                error,
                endpoint: client.endpoint,
                answered: false,
                timeouts: client.configuration.timeouts
            )
            closure = AICLIClosure(error: failure as? CompanionClientError)
        }
        sink.yield(.closed(closure, connection: number))
    }

    /// Why there is no WebSocket, or one on which nothing arrived: a server of another generation, another service, or
    /// a refused token.
    private func refusal() async throws -> CompanionClientError {
        if try await client.generation() == .http { return AICLIGeneration.http.refusal }
        try await client.checkTokenByHTTP()
        return CompanionClientError(
            .unreachable,
            message: "\(client.endpoint) did not open a WebSocket, or closed it at once.",
            delivery: .notSent
        )
    }

    private func verify(
        _ id: String,
        in directory: String,
        into sink: AsyncStream<AICLITurn.Input>.Continuation
    ) async {
        do {
            sink.yield(.verified(try await client.continueSession(id, in: directory), sessionID: id))
        } catch let error as CompanionClientError {
            sink.yield(.verificationFailed(error))
        } catch {
            // The task was cancelled, so nobody reads the answer any more.
        }
    }
}

// MARK: The disk

extension AICLITurnRunner {
    /// Marks a waiting prompt before its first byte is sent.
    private func begin(_ waiting: String?) throws {
        guard let waiting, try !store.updateOutbox({ $0.begin(waiting) }) else { return }
        throw CompanionClientError.sentByAnother
    }

    private func note(_ action: AICLITurn.Action, in turn: AICLITurn, at date: Date) throws {
        switch action {
        case .started(let id):
            try store.updateSessions { $0.started(id, in: turn.workingDirectory, at: date) }
        case .verdict(let verdict, let id):
            try store.updateSessions { $0.take(verdict, of: id, at: date) }
        case .saw(let identities, let id):
            try store.updateSessions { $0.saw(identities, in: id) }
        default: break
        }
    }

    /// Stores how a turn failed.
    private func settle(
        _ turn: AICLITurn,
        isOut: Bool,
        waiting: String?,
        after error: any Error
    ) async throws {
        let failure = error as? CompanionClientError
        if isOut {
            let why = failure?.description ?? "Nobody waited for it."
            let text = "The answer did not arrive. \(why)"
            _ = await messages.say(.system, text: text, at: now(), in: turn.workingDirectory)
        }
        guard let waiting, isOut, let failure, failure.delivery == .answered,
            ![.unreachable, .timedOut, .streamInterrupted].contains(failure.code)
        else { return }
        // The host refused the prompt or failed to answer it, so it is not sent again.
        try store.updateOutbox { $0.finish(waiting) }
    }
}
