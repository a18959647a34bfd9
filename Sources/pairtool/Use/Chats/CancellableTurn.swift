import CompanionClient
import CompanionWire
import Identity
import NIOConcurrencyHelpers

/// A prompt and its answer. The first Ctrl-C asks the host to cancel the turn, if hosts of its kind can; the next one
/// stops waiting.
final class CancellableTurn: Sendable {
    private enum Event: Sendable {
        /// The host has begun the turn with this id.
        case begun(String)
        case interrupted
    }

    /// How a part of waiting for an answer ended.
    private enum Part<Answer: Sendable>: Sendable {
        case answered(Answer)
        case failed(any Error)
        case cancelled
        case notCancelled
    }

    private let session: HostSession
    private let chatID: String
    private let events = AsyncStream.makeStream(of: Event.self)
    private let wasPressed: NIOLockedValueBox<Bool>

    /// - Parameter chatID: Where the prompt goes.
    init(_ session: HostSession, chatID: String) {
        (self.session, self.chatID) = (session, chatID)
        wasPressed = NIOLockedValueBox(session.offer.cancellation == nil)
    }

    /// Takes a Ctrl-C.
    ///
    /// - Returns: Whether the user wants to stop waiting.
    func interrupt() -> Bool {
        let isFirst = wasPressed.withLockedValue { pressed in
            defer { pressed = true }
            return !pressed
        }
        if isFirst {
            session.output.say(
                "Asking the host to cancel the answer. Ctrl-C again stops waiting for it."
            )
            events.continuation.yield(.interrupted)
        }
        return !isFirst
    }

    /// The message after the user stopped waiting.
    var stoppedWaiting: String {
        let stopped =
            session.offer.turns?.endsWithReader == true
            ? "Stopped. See the answer so far" : "Stopped waiting. The host finishes the answer; see it"
        return "\(stopped): pairtool messages \(chatID.shortID)"
    }

    /// Sends a prompt and shows the answer.
    ///
    /// - Returns: The conversation after the answer; nil if the host has cancelled it.
    func send(_ prompt: String, in conversation: Conversation) async throws -> Conversation? {
        try await run { begun in
            var next = conversation
            try await next.send(prompt, begun: begun)
            return next
        }
    }

    /// Runs a body that sends a prompt and shows the answer.
    ///
    /// - Parameter body: Calls its argument with the turn's id, if the host gives it one.
    /// - Returns: nil if the host has cancelled it.
    func run<Answer: Sendable>(
        _ body: @escaping @Sendable (_ begun: @escaping @Sendable (String) -> Void) async throws -> Answer
    ) async throws -> Answer? {
        try await withThrowingTaskGroup(of: Part<Answer>.self) { group in
            defer { group.cancelAll() }
            group.addTask { [events] in
                do {
                    return .answered(try await body { events.continuation.yield(.begun($0)) })
                } catch {
                    return .failed(error)
                }
            }
            group.addTask { [self] in try await cancelWhenAsked() }
            var (failure, isCancelled) = ((any Error)?.none, false)
            for try await part in group {
                // Ends the other part, unless it waits for the host.
                events.continuation.finish()
                switch part {
                case .answered(let next): return next
                case .failed(let error): failure = error
                case .cancelled: isCancelled = true
                case .notCancelled: break
                }
            }
            // What else the host says about a cancelled turn is no news.
            if let failure, !isCancelled { throw failure }
            session.output.say("Cancelled at the host.")
            return nil
        }
    }

    private func cancelWhenAsked<Answer>() async throws -> Part<Answer> {
        var (turn, isWanted) = (String?.none, false)
        for await event in events.stream {
            switch event {
            case .begun(let id): turn = id
            case .interrupted: isWanted = true
            }
            guard isWanted, let turn else { continue }
            do {
                let state = try await session.cancellation.cancelTurn(chatID: chatID, turnID: turn)
                if state == "cancelled" { return .cancelled }
            } catch  where !Task.isCancelled {
                await LocalHistory.forget(session.host, ifRevokedBy: error, session.output)
                session.output.report(CommandError(describing: error))
                session.output.say("Still waiting for the answer. Ctrl-C stops waiting for it.")
                isWanted = false
            }
        }
        return .notCancelled
    }
}
