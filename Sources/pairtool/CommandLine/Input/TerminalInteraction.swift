import CompanionApp
import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import PairingAgent

/// The user at the terminal. Messages and questions go to standard error, answers come from standard input.
struct TerminalInteraction: Interaction {
    let output: Output

    var context: CommandContext { output.context }

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

    func confirm(_ question: String) async throws -> Bool {
        let answer = try await context.drawing.pause {
            try await line(TerminalText.block(question) + " [y/N] ")
        }
        // Ctrl-D leaves the cursor behind the question.
        if answer == nil { context.stderr.write("\n") }
        return ["y", "yes"].contains((answer ?? "").trimmingWhitespace().lowercased())
    }

    /// Cancelling the task ends the wait for a line.
    private func line(_ question: String) async throws -> String? {
        let context = context
        return try await withTaskCancellationHandler {
            try await BlockingCall.run { try context.stdin.readAnswer { context.stderr.write(question) } }
        } onCancel: {
            Interrupts.shared.wakeReader()
        }
    }

    func choose(_ question: String, from choices: [String]) async throws -> Int? {
        try await context.drawing.pause { try await chosen(question, from: choices) }
    }

    private func chosen(_ question: String, from choices: [String]) async throws -> Int? {
        context.stderr.write(TerminalText.block(question) + "\n")
        for (index, choice) in choices.enumerated() {
            context.stderr.write("  \(index + 1)) \(TerminalText.line(choice))\n")
        }
        while true {
            let typed = try await line("Number (empty to stop): ")
            guard let answer = typed?.trimmingWhitespace(), !answer.isEmpty else { return nil }
            if let number = Int(answer), choices.indices.contains(number - 1) { return number - 1 }
            context.stderr.write("\(TerminalText.line(answer)) is not in the list.\n")
        }
    }

    func secret(_ question: String) async throws -> String? {
        context.stderr.write(question)
        let input = context.stdin
        defer { context.stderr.write("\n") }
        return try await BlockingCall.run { try input.readLine(echo: false) }
    }

    /// How long nobody can have read a question: a key that comes sooner was meant for something else.
    static let shortestReading = Duration.milliseconds(300)

    /// The next key that is typed, but for those that come before anybody can have read the question; nil at the end of
    /// the input.
    ///
    /// - Parameter text: The text to show once keys count. The question itself is shown already.
    /// - Throws: `CancellationError` when the user interrupts, or the task is cancelled.
    func key(_ text: String) async throws -> UInt8? {
        try await key(text, clock: context.clock)
    }

    private func key<C: Clock<Duration>>(_ text: String, clock: C) async throws -> UInt8? {
        let context = context
        let begin = clock.now
        var text = text
        while true {
            let key = try await Interrupts.shared.waiting { [text] in
                try await BlockingCall.run { try context.stdin.readKey { context.stderr.write(text) } }
            }
            if key == nil || begin.duration(to: clock.now) >= Self.shortestReading { return key }
            text = ""
        }
    }

    // MARK: Work

    /// Shows on a terminal what a slow command is doing, and how long a code remains valid.
    func working<R: Sendable>(
        on what: String,
        until end: Date?,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        guard context.stderrIsTerminal else { return try await body() }
        let last = LastLine(context)
        return try await withThrowingTaskGroup(of: R?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while true {
                    last.show(line(what, until: end))
                    try await ContinuousClock().sleep(for: .seconds(1))
                }
            }
            defer {
                group.cancelAll()
                last.end()
            }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func line(_ what: String, until end: Date?) -> String {
        guard let end else { return "\(what)…" }
        let left = end.timeIntervalSince(context.now())
        return left > 0
            ? "\(what)… the code is valid for \(TimeText.countdown(left))"
            : "\(what)… the code has expired by this machine's clock"
    }

    func showProgress(_ line: String?) -> Bool {
        guard context.stderrIsTerminal else { return false }
        context.stderr.write("\r\u{1B}[K" + (line ?? ""))
        return true
    }

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
            hostLimit: context.hostLimit,
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
