import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import PairingAgent
import Terminal

/// `send --queue`: a prompt that waits for its host.
struct QueuedSend {
    let host: HostSelector
    let output: Output

    /// Keeps the prompt on the disk, and sends it if the host can be reached.
    ///
    /// - Parameter open: Finds the chat or creates it.
    func send(_ prompt: String, open: (HostSession) async throws -> Conversation) async throws {
        let environment = output.environment()
        var kept: QueuedPrompt?
        func keep(_ session: HostSession) async throws -> WaitingPrompt {
            let conversation = try await open(session)
            let waiting = try session.queue(prompt, in: conversation)
            kept = QueuedPrompt(host: session.host, store: session.outbox, prompt: waiting)
            return waiting
        }
        do {
            try await host.withSession(environment) { session in
                let waiting = try await keep(session)
                let asksUser = output.format == .text
                let earlier = try await OutboxSender(session, mode: .waiting(asksUser: asksUser)).send {
                    $0.isSameChat(as: waiting)
                }
                if !earlier.stuck.isEmpty || earlier.isCancelled {
                    throw ExitRequest(earlier.failures.max() ?? .failed)
                }
                let outcome = try await OutboxSender(session, mode: .showing(output.turnView)).send {
                    $0.id.isSame(as: waiting.id)
                }
                if let worst = outcome.failures.max() { throw ExitRequest(worst) }
                if output.format == .quiet, let answer = outcome.answer { output.data(TerminalText.block(answer)) }
            }
        } catch {
            if kept == nil, !Task.isCancelled, isOutOfReach(error) {
                guard try await host.readHistory(in: environment, isAsked: true, { try await keep($0) }) != nil else {
                    throw error
                }
            }
            if kept == nil, Task.isCancelled {
                output.say("Stopped; nothing was sent or queued.")
            }
            guard let kept, try kept.isWaiting else { throw error }
            // It was stopped, or the error was reported.
            guard !Task.isCancelled, !(error is ExitRequest) else {
                output.say("The prompt waits as \(kept.prompt.id): pairtool outbox")
                throw error
            }
            guard isOutOfReach(error) else {
                throw AppError(describing: error).adding("The prompt waits as \(kept.prompt.id).")
            }
            if output.format == .json { output.json(QueuedEvent(WaitingRow(kept))) }
            let name = TerminalText.line(kept.host.name)
            output.say("The prompt waits as \(kept.prompt.id). Once \(name) is back: pairtool outbox send")
        }
    }

    /// A line of JSON: the prompt waits.
    private struct QueuedEvent: Encodable {
        let type = "queued"
        var row: WaitingRow

        init(_ row: WaitingRow) {
            self.row = row
        }

        private enum CodingKeys: String, CodingKey {
            case type
        }

        func encode(to encoder: any Encoder) throws {
            try row.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(type, forKey: .type)
        }
    }
}
