import AsyncHTTPClient
package import CompanionWire
import NIOCore

/// The events of a turn that runs or ran at a host of protocol v2.
///
/// The host numbers and stores the frames of a turn. A stream that breaks is resumed after the last frame, as long as
/// new frames arrive between the breaks. Dropping the stream does not end the turn. Supports one reader.
package struct FollowedTurn: AsyncSequence, Sendable {
    package typealias Element = TurnEvent
    package typealias Failure = any Error

    private let client: CompanionAPIClient
    private let target: String
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - hasACP: Whether the agent's own words are wanted, too.
    ///   - clock: Measures the pauses between retries.
    /// - Throws: ``CompanionClientError/Code/badRequest`` for an empty id.
    package init(
        client: CompanionAPIClient,
        chatID: String,
        turnID: String,
        hasACP: Bool = false,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        self.client = client
        self.clock = clock
        target =
            "/companion/chats/\(try client.segment(chatID, of: "chat"))/turns/\(try client.segment(turnID, of: "turn"))/events\(hasACP ? "?acp=1" : "")"
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(client: client, target: target, clock: clock)
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        private enum State {
            case closed
            case waiting(Duration)
            case reading(HTTPClientResponse.Body.AsyncIterator)
            case finishing
            case ended
        }

        private let client: CompanionAPIClient
        private let target: String
        private let clock: any Clock<Duration>
        private var state = State.closed
        private var decoder: ContinueChatStreamDecoder
        private var backoff: Backoff
        private var pending: ArraySlice<ContinueChatStreamDecoder.Output> = []
        private let budget: StreamBudget
        private var failure: TurnFailure?
        private var answer = ""
        private var usage: TurnUsage?
        private var wasResumed = false
        /// The target of the last connection.
        private var used: ClientTarget

        fileprivate init(client: CompanionAPIClient, target: String, clock: any Clock<Duration>) {
            self.client = client
            self.target = target
            self.clock = clock
            decoder = ContinueChatStreamDecoder(
                maximumEventSize: client.configuration.limits.frame,
                isNumbered: true
            )
            backoff = Backoff(client.configuration.retries)
            used = client.target
            budget = StreamBudget(client.configuration.limits)
        }

        /// - Throws: ``CompanionClientError``: `hostError` if the turn failed, `streamInterrupted` if the stream broke
        ///   and could not be resumed.
        package mutating func next() async throws -> TurnEvent? {
            while true {
                if let output = try takePending() { return output }
                switch state {
                case .closed, .waiting, .reading:
                    if let notice = try await advance() { return notice }
                case .finishing:
                    state = .ended
                    if let failure { throw CompanionClientError.turnFailed(failure) }
                    return .finished(FinishedTurn(answer: answer, usage: usage, wasRecovered: wasResumed))
                case .ended:
                    return nil
                }
            }
        }

        /// Does one step of the connection.
        ///
        /// - Returns: A notice if the connection broke.
        private mutating func advance() async throws -> TurnEvent? {
            let current = state
            // Set the state first: if the code below throws, the sequence has ended.
            state = .ended
            do {
                switch current {
                case .waiting(let wait):
                    await client.line.renew(after: used)
                    try await client.line.pause(for: wait, by: clock)
                    fallthrough
                case .closed:
                    state = .reading(try await open())
                case .reading(var body):
                    if let part = try await read(&body) {
                        try take(part)
                        if case .ended = state { state = .reading(body) }
                    } else {
                        try Task.checkCancellation()
                        return try interrupted(by: nil)
                    }
                case .finishing, .ended:
                    break
                }
                return nil
            } catch let error as CompanionClientError where error.isBreak {
                return try interrupted(by: error)
            }
        }

        private mutating func open() async throws -> HTTPClientResponse.Body.AsyncIterator {
            var request = CompanionRequest.get(target)
            used = client.target
            if decoder.lastNumber > 0 { request.headers = [("Last-Event-ID", "\(decoder.lastNumber)")] }
            return try await client.openEvents(request)
        }

        private func read(_ body: inout HTTPClientResponse.Body.AsyncIterator) async throws -> ByteBuffer? {
            do {
                return try await body.next()
            } catch {
                throw try await client.transport(error, answered: true)
            }
        }

        private mutating func take(_ part: ByteBuffer) throws {
            guard budget.takes(bytes: part.readableBytes) else { throw tooLarge(nil) }
            do {
                pending = try decoder.feed(part.readableBytesView)[...]
            } catch {
                throw tooLarge(error)
            }
            if !pending.isEmpty { backoff.reset() }
        }

        private mutating func takePending() throws -> TurnEvent? {
            while let next = pending.popFirst() {
                switch next {
                case .end:
                    state = .finishing
                    pending = []
                case .event(let event):
                    guard budget.takes(event) else {
                        state = .ended
                        pending = []
                        throw tooLarge(nil)
                    }
                    if let output = output(for: event) { return output }
                }
            }
            return nil
        }

        /// - Returns: The event as it is shown; nil for one that shows nothing.
        private mutating func output(for event: TurnEvent) -> TurnEvent? {
            switch event {
            case .text(let text):
                answer += text
                return text.isEmpty ? nil : event
            case .usage(let latest):
                usage = latest
                return event
            case .done: return event.changedFiles == nil ? nil : event
            case .failed(let new):
                // The error itself is thrown at the end.
                failure = failure ?? new
                return new.files == nil ? nil : event
            // Newer hosts may send more kinds.
            case .unknown: return nil
            default: return event
            }
        }

        private mutating func interrupted(by error: CompanionClientError?) throws -> TurnEvent {
            guard let wait = backoff.next() else {
                throw CompanionClientError(
                    .streamInterrupted,
                    message:
                        "The answer of \(client.target) broke off, and the connection did not come back. The host has the "
                        + "prompt, and continues the answer if it still runs.",
                    underlying: error
                )
            }
            decoder.resume()
            wasResumed = true
            state = .waiting(wait)
            return .recovering(
                error?.message ?? "\(client.target) closed the connection; resuming the answer."
            )
        }

        private func tooLarge(_ error: (any Error)?) -> CompanionClientError {
            CompanionClientError(
                .tooLarge,
                message: "\(client.target) sent an answer that is too large.",
                underlying: error
            )
        }
    }
}
