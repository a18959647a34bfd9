import CompanionClient
import CompanionWire
import Identity
package import PairingAgent

/// Sends the prompts that wait for hosts, the oldest of each host first.
package struct OutboxRun: Sendable {
    /// The prompts that the user chose.
    package enum Choice: Sendable {
        /// All that wait. The user is asked about those that may have been sent already.
        case all
        /// One, by the beginning of its id.
        case one(String)
        /// One that may have been sent already, or was refused.
        case again(String)
    }

    private let hosts: HostSelector
    private let environment: AppEnvironment
    private let view: TurnView

    /// - Parameters:
    ///   - hosts: The hosts whose prompts count.
    ///   - view: Shows the answers.
    package init(hosts: HostSelector, environment: AppEnvironment, view: TurnView) {
        (self.hosts, self.environment, self.view) = (hosts, environment, view)
    }

    /// Ends a command where no prompt waits.
    package static let nothing = AppError.empty("No prompt is waiting")

    /// Sends them. A host that fails is reported, and does not keep the others from theirs.
    ///
    /// - Returns: The gravest of the failures; nil where there was none.
    /// - Throws: ``AppError`` where nothing waits; `CancellationError`.
    package func run(_ choice: Choice) async throws -> AppError.Kind? {
        var chosen: String?
        switch choice {
        case .all: try await askAboutUncertain()
        case .one(let word): chosen = try QueuedPrompt.find(word, of: hosts, in: environment).prompt.id
        case .again(let word):
            let queued = try QueuedPrompt.find(word, of: hosts, in: environment)
            try queued.store.update { $0.sendAgain(queued.prompt.id) }
            chosen = queued.prompt.id
        }
        let all = try QueuedPrompt.all(hosts, in: environment)
        let waiting = all.filter { queued in
            queued.prompt.state == .waiting && chosen.map { $0.isSame(as: queued.prompt.id) } ?? true
        }
        guard !waiting.isEmpty else {
            var nothing = Self.nothing
            if !all.isEmpty {
                nothing.next = "to send an uncertain or refused prompt again: pairtool outbox send --again ID"
            }
            throw nothing
        }
        var failed: [AppError.Kind] = []
        for host in waiting.map(\.host).unique {
            do {
                let outcome = try await send(to: host, only: chosen)
                failed += outcome.failures
                if outcome.isCancelled { break }
            } catch {
                try Task.checkCancellation()
                let failure = AppError(describing: error).adding("Prompts for \(host.name) keep waiting.")
                environment.interaction.report(failure)
                failed.append(failure.kind)
            }
        }
        return failed.max()
    }

    private func send(to host: PairedHost, only id: String?) async throws -> OutboxSender.Outcome {
        try await hosts.naming(host).withSession(environment, saysWaiting: false) { session in
            try await OutboxSender(session, mode: .showing(view)).send { id?.isSame(as: $0.id) ?? true }
        }
    }

    private func askAboutUncertain() async throws {
        guard environment.interaction.canAsk else { return }
        for queued in try QueuedPrompt.all(hosts, in: environment) where queued.prompt.state == .uncertain {
            let name = TerminalText.line(queued.host.name)
            let question = "\(name) may have got this already: \(queued.prompt.excerpt)\nSend it again?"
            if try await environment.interaction.confirm(question) {
                try queued.store.update { $0.sendAgain(queued.prompt.id) }
            }
        }
    }
}
