import CompanionWire
import Dispatch
import NIOConcurrencyHelpers

/// The conversation with one process of an agent: the host's calls that wait for an answer, and the listeners of
/// sessions.
///
/// Bytes come in by ``receive(_:_:)``, from one task; those to be written are in ``output``. It ends when the process
/// does, or when it makes no sense any more.
final class ACPConnection: Sendable {
    let limits: Limits
    /// The bytes for the agent's standard input. Ends when the process is to end.
    let output: AsyncStream<[UInt8]>
    private let source: AsyncStream<[UInt8]>.Continuation
    /// Ends when nothing more is to be written to the agent, whether or not it reads.
    let over: AsyncStream<Void>
    private let overSource: AsyncStream<Void>.Continuation
    let state = NIOLockedValueBox(State())

    init(limits: Limits) {
        self.limits = limits
        (output, source) = AsyncStream.makeStream()
        (over, overSource) = AsyncStream.makeStream()
    }

    // MARK: Its life

    /// Lets a turn use the process.
    ///
    /// - Returns: false when it takes no more turns.
    func take() -> Bool {
        state.withLockedValue { state in
            guard state.end == nil, !state.isRetired, !state.hasEndedOutput else { return false }
            state.users += 1
            return true
        }
    }

    func release() {
        let isOver = state.withLockedValue { state in
            state.users -= 1
            return state.users == 0 && state.isRetired && !state.hasEndedOutput
        }
        if isOver { end(ACPEnd.asked) }
    }

    /// Takes no more turns. The process ends when those that run have ended.
    func retire() {
        let isOver = state.withLockedValue { state in
            state.isRetired = true
            return state.users == 0 && !state.hasEndedOutput
        }
        if isOver { end(ACPEnd.asked) }
    }

    /// The agent writes nothing any more: no more turns, and nothing more for it to read. All who wait get the
    /// reason once it is known, by ``end(_:)``.
    func outputEnded() {
        state.withLockedValue { $0.hasEndedOutput = true }
        source.finish()
        overSource.finish()
    }

    /// The agent has answered `initialize`.
    func isReady(_ introduction: JSONValue) {
        let info = ACPAgentInfo(introduction)
        let readers = state.withLockedValue { state in
            state.introduction = introduction
            defer { state.readers = [:] }
            return state.readers.values
        }
        for reader in readers { reader.resume(returning: info) }
    }

    /// Whether the agent has answered `initialize`.
    var hasStarted: Bool { state.withLockedValue { $0.info != nil } }

    /// Returns when the agent has answered `initialize`.
    func ready() async throws -> ACPAgentInfo {
        let number = state.withLockedValue { state in
            state.nextReader += 1
            return state.nextReader
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<ACPAgentInfo, any Error>? = state.withLockedValue { state in
                    if let end = state.end { return .failure(end) }
                    if let info = state.info { return .success(info) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.readers[number] = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            state.withLockedValue { $0.readers.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }

    /// Ends the conversation: all calls that wait fail with the reason. The first reason counts.
    func end(_ reason: any Error) {
        let (calls, readers) = state.withLockedValue { state in
            guard state.end == nil else { return ([Waiting](), [CheckedContinuation<ACPAgentInfo, any Error>]()) }
            state.end = reason
            defer {
                state.calls = [:]
                state.readers = [:]
                state.listeners = [:]
            }
            return (Array(state.calls.values), Array(state.readers.values))
        }
        source.finish()
        overSource.finish()
        for call in calls { call.continuation.resume(throwing: reason) }
        for reader in readers { reader.resume(throwing: reason) }
    }

    /// Why the conversation has ended; nil while it goes on.
    var reason: (any Error)? { state.withLockedValue { $0.end } }

    // MARK: Calls

    /// Asks the agent, and waits for its answer.
    ///
    /// - Parameters:
    ///   - chat: The chat that continues in the session which the call begins or takes up.
    ///   - replay: Takes what was said in the session that the call loads.
    ///   - isVital: Whether an agent that does not answer takes no more turns.
    ///   - limit: How long it may take.
    /// - Throws: ``ACPRefusal``; ``ACPEnd``; `CancellationError`.
    func call(
        _ call: ACPCall,
        chat: String? = nil,
        replay: ACPReplay? = nil,
        isVital: Bool = true,
        within limit: Duration
    ) async throws -> JSONValue {
        try Task.checkCancellation()
        let place = NIOLockedValueBox<Int?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiting = Waiting(
                    continuation: continuation,
                    call: call,
                    chat: chat.map(ByteText.init),
                    replay: replay,
                    isVital: isVital
                )
                guard let number = begin(waiting) else { return }
                place.withLockedValue { $0 = number }
                if Task.isCancelled { fail(number, with: CancellationError()) }
                expire(number, within: limit)
            }
        } onCancel: {
            if let number = place.withLockedValue({ $0 }) { fail(number, with: CancellationError()) }
        }
    }

    /// Sends a prompt, and waits for the end of its answer. When its task is cancelled, the agent is told so, and has
    /// ``Limits/cancel`` to come to an end; after that the process takes no more turns.
    ///
    /// - Parameter modes: Those that the session may have. From here on, the listener hears of others.
    /// - Throws: ``ACPRefusal``; ``ACPEnd``; ``ACPModeChanged`` for a session that has other modes by now, before
    ///   anything is sent; `CancellationError` for an agent that did not end a cancelled prompt.
    func prompt(
        _ text: String,
        images: [TurnImage] = [],
        content: [JSONValue]? = nil,
        session: String,
        in modes: ACPModes?,
        listener: Listener
    ) async throws -> JSONValue {
        let key = ByteText(session)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let call = ACPCall.prompt(text, images: images, content: content, session: session)
                let waiting = Waiting(continuation: continuation, call: call)
                let number = begin(waiting) { state in
                    guard state.modes[key] == modes else { return ACPModeChanged() }
                    state.listeners[key] = listener
                    return nil
                }
                guard number != nil else { return }
                if Task.isCancelled { cancel(session: session) }
            }
        } onCancel: {
            cancel(session: session)
        }
    }

    /// Ends the prompt of a session before its time.
    func cancel(session: String) {
        let key = ByteText(session)
        let (listener, withdrawn, number) = state.withLockedValue { state -> (Listener?, [Int], Int?) in
            guard let call = state.calls.first(where: { $0.value.isPrompt && $0.value.session == key }) else {
                return (nil, [], nil)
            }
            let withdrawn = state.client.cancel(session: session)
            flush(&state)
            return (state.listeners[key], withdrawn, call.key)
        }
        guard let number else { return }
        for question in withdrawn { listener?.withdrawn(question) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(limits.cancel / .milliseconds(1)))) {
            // It may have come to its end by now.
            guard self.waits(for: number) else { return }
            self.retire()
            self.fail(number, with: CancellationError())
        }
    }

    /// Answers a question.
    ///
    /// - Returns: Whether the agent still waited.
    @discardableResult
    func decide(_ question: Int, with answer: ApprovalAnswer) -> Bool {
        state.withLockedValue { state in
            defer { flush(&state) }
            return state.client.decide(question, with: answer)
        }
    }

    /// - Parameter prepare: Called under the same lock, unless the conversation is over. Returns an error if the call
    ///   must not begin.
    /// - Returns: nil when nothing is begun; the continuation is resumed then.
    private func begin(_ waiting: Waiting, _ prepare: (inout State) -> (any Error)? = { _ in nil }) -> Int? {
        let (number, reason) = state.withLockedValue { state -> (Int?, (any Error)?) in
            if let reason = state.end ?? prepare(&state) { return (nil, reason) }
            let number = state.client.call(waiting.call)
            state.calls[number] = waiting
            flush(&state)
            return (number, nil)
        }
        if let reason { waiting.continuation.resume(throwing: reason) }
        return number
    }

    /// - Returns: Whether it still waited.
    @discardableResult
    private func fail(_ number: Int, with error: any Error) -> Bool {
        let call = remove(number)
        call?.continuation.resume(throwing: error)
        return call != nil
    }

    private func waits(for number: Int) -> Bool { state.withLockedValue { $0.calls[number] != nil } }

    private func remove(_ number: Int) -> Waiting? { state.withLockedValue { $0.remove(number) } }

    private func expire(_ number: Int, within limit: Duration) {
        guard let call = state.withLockedValue({ $0.calls[number] }) else { return }
        let rest = limit - (.now - call.since)
        guard rest > .zero else {
            // First, because the waiting task may begin another turn at once.
            if call.isVital { retire() }
            fail(number, with: ACPEnd.silent(limit))
            return
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(rest / .milliseconds(1)) + 1)) {
            self.expire(number, within: limit)
        }
    }

    /// Passes the client's bytes to ``output``. Called under the lock, so that bytes have the order of the calls.
    private func flush(_ state: inout State) {
        let bytes = state.client.takeOutput()
        guard !bytes.isEmpty else { return }
        state.queued += bytes.count
        source.yield(bytes)
    }

    /// So many bytes of ``output`` were written.
    func wrote(_ count: Int) {
        state.withLockedValue { $0.queued -= count }
    }

    // MARK: From the agent

    /// Takes bytes that the agent has written. To be called by one task.
    ///
    /// - Parameter lines: Collects the lines of the agent's output, from its first byte on.
    func receive(_ bytes: UnsafeRawBufferPointer, into lines: inout ACPLines) {
        guard reason == nil else { return }
        let isWhole = lines.take(bytes) { line in
            // A line may have megabytes: it is read before the lock that all chats need.
            let messages = ACPMessage.all(in: line)
            return messages.isEmpty ? take(nil) : messages.allSatisfy(take)
        }
        if !isWhole { end(ACPFault.flood) }
    }

    /// - Returns: Whether the agent still makes sense.
    private func take(_ message: ACPMessage?) -> Bool {
        let (events, hasFailed, isRead) = state.withLockedValue { state in
            let events = state.client.take(message)
            flush(&state)
            return (events, state.client.hasFailed, state.queued <= limits.queue)
        }
        for event in events { handle(event) }
        if !isRead { end(ACPFault.unread) }
        return !hasFailed && isRead
    }

    private func handle(_ event: ACPClient.Event) {
        switch event {
        case .answer(let number, let result):
            // Together: the agent's next message may change it again, before whoever asked goes on.
            let call = state.withLockedValue { state -> Waiting? in
                guard let call = state.remove(number) else { return nil }
                if case .success(let answer) = result { state.note(answer, to: call) }
                return call
            }
            call?.continuation.resume(with: result.mapError { $0 as any Error })
        case .update(let session, let update, let raw):
            let key = ByteText(session)
            let listener = state.withLockedValue { state in
                state.note(update, of: key)
                state.note(raw, of: key)
                return state.listeners[key]
            }
            listener?.update(update, raw)
        case .replay(let session, let update, let message):
            let session = ByteText(session)
            let replays = state.withLockedValue { state in
                for (number, call) in state.calls where call.session == session { state.calls[number]?.since = .now }
                return state.calls.values.filter { $0.session == session }.compactMap(\.replay)
            }
            for replay in replays { replay.take(update, id: message) }
        case .question(let question):
            let listener = state.withLockedValue { $0.listeners[ByteText(question.session)] }
            if let listener { listener.question(question) } else { decide(question.key, with: .cancelled) }
        case .form(let form):
            let listener = state.withLockedValue { $0.listeners[ByteText(form.session)] }
            if let listener { listener.form(form) } else { decide(form.key, with: .cancelled) }
        case .linkDone(let session):
            state.withLockedValue { $0.listeners[ByteText(session)] }?.update(.linkDone, .null)
        case .withdrawn(let key):
            // Keys are unique among all sessions.
            for listener in state.withLockedValue({ Array($0.listeners.values) }) { listener.withdrawn(key) }
        case .fault(let fault): end(fault)
        }
    }
}

/// Why a conversation with an agent's process has ended.
enum ACPEnd: Error, Sendable, Hashable {
    /// The host wanted it.
    case asked
    /// The process ended.
    case exited(String)
    case notStarted
    /// It did not answer for this long.
    case silent(Duration)
    case shutdown
}
