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
    private enum Part: Sendable {
        case answered(Conversation)
        case failed(any Error)
        case cancelled
        case notCancelled
    }

    private let conversation: Conversation
    private let events = AsyncStream.makeStream(of: Event.self)
    private let wasPressed: NIOLockedValueBox<Bool>

    /// - Parameter conversation: Where the prompt goes.
    init(_ conversation: Conversation) {
        self.conversation = conversation
        wasPressed = NIOLockedValueBox(conversation.session.offer.cancellation == nil)
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
            conversation.session.output.say(
                "Asking the host to cancel the answer. Ctrl-C again stops waiting for it."
            )
            events.continuation.yield(.interrupted)
        }
        return !isFirst
    }

    /// Sends a prompt and shows the answer.
    ///
    /// - Returns: The conversation after the answer; nil if the host has cancelled it.
    func send(_ prompt: String) async throws -> Conversation? {
        try await withThrowingTaskGroup(of: Part.self) { group in
            defer { group.cancelAll() }
            group.addTask { [self] in
                var next = conversation
                do {
                    try await next.send(prompt) { [events] in events.continuation.yield(.begun($0)) }
                    return .answered(next)
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
            conversation.session.output.say("Cancelled at the host.")
            return nil
        }
    }

    private func cancelWhenAsked() async throws -> Part {
        let session = conversation.session
        var (turn, isWanted) = (String?.none, false)
        for await event in events.stream {
            switch event {
            case .begun(let id): turn = id
            case .interrupted: isWanted = true
            }
            guard isWanted, let turn else { continue }
            do {
                if try await conversation.cancel(turn) == "cancelled" { return .cancelled }
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
