import CompanionApp
import CompanionWire
import FoundationEssentials
import Glibc
import PairingAgent
import Terminal

/// The user at the terminal. Messages and questions go to standard error, answers come from standard input.
struct TerminalInteraction: Interaction {
    let output: Output

    var context: TerminalContext { output.context }

    var canAsk: Bool { context.canAsk }

    // MARK: Messages

    func say(_ message: String, once: Bool) {
        guard !once || context.said.insert(message) else { return }
        output.say(message)
    }

    func warn(_ error: any Error, once: Bool) {
        let error = AppError(describing: error)
        guard !once || context.said.insert(error.message) else { return }
        output.warn(error)
    }

    func report(_ error: any Error) {
        output.report(AppError(describing: error))
    }

    // MARK: Questions

    func confirm(_ question: String) async throws -> Bool { try await context.confirm(question) }

    func choose(_ question: String, from choices: [String]) async throws -> Int? {
        try await context.choose(question, from: choices)
    }

    func ask(_ question: String) async throws -> String? { try await context.ask(question) }

    func secret(_ question: String) async throws -> String? { try await context.secret(question) }

    // MARK: Work

    /// Shows on a terminal what a slow command is doing, and how long a code remains valid.
    func working<R: Sendable>(
        on what: String,
        until end: Date?,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await context.working(showing: { line(what, until: end) }, body)
    }

    private func line(_ what: String, until end: Date?) -> String {
        guard let end else { return "\(what)…" }
        let left = end.timeIntervalSince(context.now())
        return left > 0
            ? "\(what)… the code is valid for \(TimeText.countdown(left))"
            : "\(what)… the code has expired by this machine's clock"
    }

    func showProgress(_ line: String?) -> Bool { context.showProgress(line) }

    /// Ctrl-C calls the handler.
    func interruptible<R>(
        by handler: @escaping @Sendable () -> Bool,
        _ body: () async throws -> R
    ) async throws -> R {
        try await Interrupts.shared.withHandler({ $0 == SIGINT && handler() }, body)
    }
}

extension OutputOptions {
    /// The surroundings of the command's tasks.
    var environment: AppEnvironment { output.environment() }
}

extension Output {
    /// The surroundings of the command's tasks.
    ///
    /// - Parameter discovery: The choice of the command line. Default: the environment decides.
    func environment(_ discovery: DiscoveryChoice = DiscoveryChoice()) -> AppEnvironment {
        let context = context
        let interaction = TerminalInteraction(output: self)
        return AppEnvironment(
            paths: context.paths,
            variables: context.environment,
            now: context.now,
            clock: context.clock,
            hostLimit: context.answerLimit,
            discovery: discovery,
            interaction: interaction,
            logger: { LoggingSetup.logger($0, context: context) },
            content: { try await context.content(of: $0, limit: $1) },
            historyLimits: {
                let choices = Choices.load(context.paths)
                for fault in choices.faults { interaction.warn(fault, once: true) }
                return choices.history
            },
            notifies: { kind in
                context.notifies && context.isInFront() != true
                    && Choices.load(context.paths).notifications.contains(kind)
            }
        )
    }
}
