import AsyncHTTPClient
package import CompanionWire
import NIOCore

/// The events of one streamed answer, as they arrive.
package struct ContinueChatStream: AsyncSequence, Sendable {
    package typealias Element = TurnEvent
    package typealias Failure = any Error

    private let client: CompanionAPIClient
    private let chatID: String
    private let request: ContinueChatRequest
    private let answered: @Sendable () -> Void
    private let once = OneShot()

    /// - Parameter answered: Called when the host begins to answer, which is when it has the prompt.
    init(
        client: CompanionAPIClient,
        chatID: String,
        request: ContinueChatRequest,
        answered: @escaping @Sendable () -> Void = {}
    ) {
        self.client = client
        self.chatID = chatID
        self.request = request
        self.answered = answered
    }

    package func makeAsyncIterator() -> AsyncIterator {
        precondition(once.use(), "an answer has one reader: a second one would send the prompt again")
        return AsyncIterator(client: client, chatID: chatID, request: request, answered: answered)
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        private enum State {
            case idle
            case reading(HTTPClientResponse.Body.AsyncIterator)
            case ended
        }

        private let client: CompanionAPIClient
        private let chatID: String
        private let request: ContinueChatRequest
        private let answered: @Sendable () -> Void
        private var state = State.idle
        private var decoder: ContinueChatStreamDecoder
        private var pending: ArraySlice<ContinueChatStreamDecoder.Output> = []
        private let budget: StreamBudget

        fileprivate init(
            client: CompanionAPIClient,
            chatID: String,
            request: ContinueChatRequest,
            answered: @escaping @Sendable () -> Void
        ) {
            self.answered = answered
            self.client = client
            self.chatID = chatID
            self.request = request
            self.decoder = ContinueChatStreamDecoder(maximumEventSize: client.configuration.limits.frame)
            budget = StreamBudget(client.configuration.limits)
        }

        /// - Throws: ``CompanionClientError``; its `delivery` says whether the host may have received the prompt.
        package mutating func next() async throws -> TurnEvent? {
            while true {
                switch pending.popFirst() {
                case .event(let event):
                    guard budget.takes(event) else {
                        end()
                        throw tooLarge(nil)
                    }
                    // Nothing follows an error frame, not even `[DONE]`, so do not wait for the end of the connection.
                    if case .failed = event { end() }
                    return event
                case .end: end()
                case nil:
                    break
                }
                switch state {
                case .idle:
                    // Set the state first: if the next line throws, the sequence has ended.
                    state = .ended
                    state = .reading(try await open())
                    answered()
                case .reading(let body):
                    state = .ended
                    try await read(from: body)
                case .ended:
                    return nil
                }
            }
        }

        private mutating func end() {
            state = .ended
            pending = []
        }

        private func open() async throws -> HTTPClientResponse.Body.AsyncIterator {
            let target = "/companion/chats/\(try client.segment(chatID, of: "chat"))/continue"
            return try await client.openEvents(.post(target, body: request))
        }

        private mutating func read(from body: HTTPClientResponse.Body.AsyncIterator) async throws {
            var body = body
            let part: ByteBuffer?
            do {
                part = try await body.next()
                try Task.checkCancellation()
            } catch {
                throw interrupted(error)
            }
            guard let part else { throw interrupted(nil) }
            guard budget.takes(bytes: part.readableBytes) else { throw tooLarge(nil) }
            do {
                pending = try decoder.feed(part.readableBytesView)[...]
            } catch {
                throw tooLarge(error)
            }
            state = .reading(body)
        }

        private func tooLarge(_ error: (any Error)?) -> CompanionClientError {
            CompanionClientError(
                .tooLarge,
                message: "\(client.target) sent an answer that is too large.",
                underlying: error
            )
        }

        /// Any error after the stream has begun is reported as an interruption.
        private func interrupted(_ error: (any Error)?) -> any Error {
            let cause = error.map {
                CompanionClientError.transport(
                    $0,
                    endpoint: client.target,
                    answered: true,
                    timeouts: client.configuration.timeouts
                )
            }
            if let cause, cause is CancellationError { return cause }
            return CompanionClientError(
                .streamInterrupted,
                message: "The answer of \(client.target) broke off.",
                underlying: cause
            )
        }
    }
}
