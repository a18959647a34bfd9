import CompanionClient
import CompanionWire
import Identity
import NIOConcurrencyHelpers
import PairingAgent

/// A prompt and its answer. The first Ctrl-C asks the host to cancel the turn, if hosts of its kind can; the next one
/// stops waiting. So does one before the prompt is sent, or after the answer has ended.
package final class CancellableTurn: Sendable {
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

    private struct State {
        var (isRunning, hasRun, hasBegun, wasInterrupted) = (false, false, false, false)
    }

    private let session: HostSession
    private let chatID: String
    private let events = AsyncStream.makeStream(of: Event.self)
    private let state = NIOLockedValueBox(State())

    /// - Parameter chatID: The chat that the prompt is sent to.
    package init(_ session: HostSession, chatID: String) {
        (self.session, self.chatID) = (session, chatID)
    }

    /// Whether the host may have the prompt.
    package var hasRun: Bool { state.withLockedValue(\.hasRun) }
    /// Whether the host has given the turn an id.
    package var hasBegun: Bool { state.withLockedValue(\.hasBegun) }
    /// Whether the user wanted the turn cancelled, whatever came of it.
    package var wasInterrupted: Bool { state.withLockedValue(\.wasInterrupted) }

    /// Takes a Ctrl-C.
    ///
    /// - Returns: Whether the user wants to stop waiting.
    package func interrupt() -> Bool {
        let canCancel = session.offer.cancellation != nil
        let asks = state.withLockedValue { state in
            guard canCancel, state.isRunning, !state.wasInterrupted else { return false }
            state.wasInterrupted = true
            return true
        }
        guard asks else { return true }
        session.interaction.say("Asking the host to cancel the answer. Ctrl-C again stops waiting for it.")
        events.continuation.yield(.interrupted)
        return false
    }

    /// The message after the user stopped waiting.
    package var stopped: String {
        guard hasRun else { return "Stopped; nothing was sent." }
        let stopped =
            session.offer.turns?.endsWithReader == true
            ? "Stopped. See the answer so far" : "Stopped waiting. The host finishes the answer; see it"
        return "\(stopped): pairtool messages \(chatID.shortID)"
    }

    /// Runs a body that sends a prompt and shows the answer; once.
    ///
    /// - Parameter body: Calls its argument with the turn's id, if the host gives it one.
    /// - Throws: ``TurnCancelled``, and what the body throws.
    package func run<Answer: Sendable>(
        _ body: @escaping @Sendable (_ begun: @escaping @Sendable (String) -> Void) async throws -> Answer
    ) async throws -> Answer {
        state.withLockedValue { ($0.isRunning, $0.hasRun) = (true, true) }
        defer { state.withLockedValue { $0.isRunning = false } }
        return try await withThrowingTaskGroup(of: Part<Answer>.self) { group in
            defer { group.cancelAll() }
            group.addTask { [state, events] in
                do {
                    return .answered(
                        try await body { turnID in
                            state.withLockedValue { $0.hasBegun = true }
                            events.continuation.yield(.begun(turnID))
                        }
                    )
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
                case .answered(let answer): return answer
                case .failed(let error): failure = error
                case .cancelled: isCancelled = true
                case .notCancelled: break
                }
            }
            // What else the host says about a cancelled turn is no news.
            if let failure, !isCancelled { throw failure }
            session.interaction.say("Cancelled at the host.")
            throw TurnCancelled()
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
                await session.environment.endPairing(with: session.host, ifRevokedBy: error)
                session.interaction.report(error)
                session.interaction.say("Still waiting for the answer. Ctrl-C stops waiting for it.")
                isWanted = false
            }
        }
        return .notCancelled
    }
}
