package import CompanionWire

/// The events of a turn. The turn advances only while events are read. Supports one reader, because the prompt is
/// sent once.
package struct ChatTurnEvents: AsyncSequence, Sendable {
    package typealias Element = TurnEvent
    package typealias Failure = any Error

    private let turn: ChatTurn
    private let once = OneShot()

    init(turn: ChatTurn) {
        self.turn = turn
    }

    package func makeAsyncIterator() -> AsyncIterator {
        precondition(once.use(), "a turn has one reader: a second one would send the prompt again")
        return AsyncIterator(turn: turn)
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        private enum Phase {
            case idle
            case streaming(any AsyncIteratorProtocol<TurnEvent, any Error>)
            case recovering(after: Duration, elapsed: @Sendable () -> Duration)
            case failing(CompanionClientError)
            case ended
        }

        private let turn: ChatTurn
        private var phase = Phase.idle
        private var recovery: TurnRecovery
        private var position = HistoryPosition.start
        /// The host's health answer from the beginning of the turn.
        private var health: CompanionHealthResponse?
        private var age: @Sendable () -> Duration = { .zero }
        private var usage: TurnUsage?
        private var queue: ArraySlice<TurnEvent> = []

        fileprivate init(turn: ChatTurn) {
            self.turn = turn
            self.recovery = turn.makeRecovery()
        }

        package mutating func next() async throws -> TurnEvent? {
            while true {
                if let output = queue.popFirst() { return output }
                switch phase {
                case .idle:
                    // Nothing has been sent yet, so an error here ends the turn without a recovery.
                    position = try await turn.findPosition()
                    health = try await turn.askHealth()
                    recovery = turn.makeRecovery(health)
                    age = turn.stopwatch()
                    phase = .streaming(try turn.openStream())
                case .streaming(let stream):
                    phase = .ended
                    try await read(stream)
                case .recovering(let wait, let elapsed):
                    try await turn.sleep(wait)
                    try await poll(elapsed)
                case .failing(let error):
                    phase = .ended
                    throw error
                case .ended:
                    return nil
                }
            }
        }

        private mutating func read(_ stream: any AsyncIteratorProtocol<TurnEvent, any Error>) async throws {
            var stream = stream
            let input: TurnRecovery.Input
            do {
                input = try await stream.next().map(TurnRecovery.Input.event) ?? .ended
            } catch let error as CompanionClientError {
                input = .failed(error, age: age())
            }
            if case .event(.usage(let latest)) = input { usage = latest }
            let stopwatch = turn.stopwatch()
            apply(recovery.handle(input), reading: stream, elapsed: stopwatch)
        }

        private mutating func poll(_ elapsed: @escaping @Sendable () -> Duration) async throws {
            // Ask this before the history: the history then contains everything that the old process had stored.
            let hasRestarted = try await turn.askHealth().map { health?.isOtherProcess(than: $0) ?? false } ?? false
            let input: TurnRecovery.Input
            do {
                let messages = try await turn.readHistory(after: position)
                input = .history(messages, elapsed: elapsed(), hasRestarted: hasRestarted)
            } catch let error as CompanionClientError {
                input = .historyFailed(error, elapsed: elapsed(), hasRestarted: hasRestarted)
            }
            apply(recovery.handle(input), reading: nil, elapsed: elapsed)
        }

        private mutating func apply(
            _ result: (outputs: [TurnEvent], next: TurnRecovery.Step),
            reading stream: (any AsyncIteratorProtocol<TurnEvent, any Error>)?,
            elapsed: @escaping @Sendable () -> Duration
        ) {
            queue = result.outputs[...]
            switch result.next {
            case .read:
                phase = stream.map(Phase.streaming) ?? .ended
            case .poll(let wait):
                phase = .recovering(after: wait, elapsed: elapsed)
            case .finish(let recovered):
                phase = .ended
                turn.finished(position)
                queue.append(
                    .finished(FinishedTurn(answer: recovery.answer, usage: usage, wasRecovered: recovered))
                )
            case .fail(let error):
                phase = .failing(error)
            }
        }
    }
}
