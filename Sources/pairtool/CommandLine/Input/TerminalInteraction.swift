import CompanionApp
import CompanionWire
import FoundationEssentials
import Glibc
import Markdown
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

extension TerminalInteraction {
    /// The user answers by a key.
    ///
    /// - Throws: `CancellationError` when the user interrupts.
    func answer(_ approval: Approval, mayDecide: Bool, mayAlways: Bool) async throws -> ApprovalAnswer? {
        try await context.drawing.pause {
            try await show(approval)
            guard mayDecide else { return nil }
            if approval.asksPerson {
                let answer = try await answerByHand(approval)
                if answer == nil { say("To answer: pairtool approvals answer \(approval.id.shortID)") }
                return answer
            }
            let keys = OptionKeys(
                approval.options ?? [],
                mayAlways: mayAlways,
                columns: context.windowSize()?.columns
            )
            var shown = keys.lines
            while true {
                let typed: UInt8?
                do {
                    typed = try await context.key(shown)
                } catch {
                    // Interrupted, or answered elsewhere: what is shown of the turn says by whom.
                    context.stderr.write("\n")
                    throw error
                }
                guard let key = typed else {
                    context.stderr.write("\n")
                    // What has no id can be answered here only.
                    if !approval.id.isEmpty { say("To answer: pairtool approvals approve \(approval.id.shortID)") }
                    return nil
                }
                if key == OptionKeys.view {
                    context.stderr.write("\n")
                    try await show(approval)
                    shown = keys.lines
                } else if let option = keys.option(for: key) {
                    context.stderr.write(TerminalText.line(option.label) + "\n")
                    context.answers.insert(option.name, to: approval.id)
                    return .option(option.id)
                } else {
                    // Enter and keys that mean nothing here.
                    context.stderr.write("\r")
                    shown = keys.lastLine
                }
            }
        }
    }

    /// Shows what the agent wants to do; in the pager if it does not fit the window.
    func show(_ approval: Approval) async throws {
        let kind = approval.kind.isEmpty || approval.asksPerson ? "" : " (\(approval.kind))"
        let title = TerminalText.line("The agent asks: \(approval.title)\(kind)")
        let style = context.stdoutIsTerminal ? output.markdown : nil
        var text = "\n" + (style == nil ? title : "\u{1B}[1m\(title)\u{1B}[0m") + "\n"
        if let mode = approval.mode { text += TerminalText.line(mode.text) + "\n" }
        if let arguments = approval.arguments, !arguments.isEmpty { text += shown(arguments, style: style) }
        guard context.stdoutIsTerminal else { return context.stderr.write(text) }
        // The question and its keys follow below.
        try await Pager.with(output, isWanted: true) { output, _ in output.data(text) }
    }
}

extension TerminalInteraction {
    /// The description of what a tool would do, with a line end. A difference has its colours.
    ///
    /// - Parameter style: nil shows the text as it is.
    private func shown(_ arguments: String, style: MarkdownOptions?) -> String {
        let text = arguments.dropping(suffix: "\n").map(String.init) ?? arguments
        guard let style, text.begins(with: "--- ") || text.has("\n--- "), text.has("\n+++ ") else {
            return TerminalText.block(text + "\n")
        }
        return String(decoding: MarkdownStream.rows(ofCode: text, language: "diff", with: style), as: UTF8.self)
    }
}

/// The key for each answer: y and a for yes, n and N for no, digits for others.
struct OptionKeys {
    static let view = UInt8(ascii: "v")

    private let keys: [(key: UInt8, option: ApprovalOption)]
    private let columns: Int?

    /// - Parameters:
    ///   - mayAlways: Whether answers that go for later requests too have keys.
    ///   - columns: The width of the window; nil if it has none.
    init(_ options: [ApprovalOption], mayAlways: Bool, columns: Int? = nil) {
        self.columns = columns
        let usual: [ApprovalOption.Kind: UInt8] = [
            .allowOnce: UInt8(ascii: "y"), .allowAlways: UInt8(ascii: "a"), .rejectOnce: UInt8(ascii: "n"),
            .rejectAlways: UInt8(ascii: "N"),
        ]
        var free = Array("123456789bcdefghijklmopqrstuwxz".utf8)[...]
        var taken: Set<UInt8> = []
        keys = options.filter { mayAlways || !$0.kind.mayLast }.compactMap { option in
            if let key = usual[option.kind], taken.insert(key).inserted { return (key, option) }
            return free.popFirst().map { ($0, option) }
        }
    }

    func option(for key: UInt8) -> ApprovalOption? {
        keys.first { $0.key == key }?.option
    }

    private static let viewWords = "[v] show again"

    /// Such as `[y] Yes (allow once)  [n] No (reject once)  [v] show again: `; in several lines where they do not fit
    /// into one.
    var lines: String { Self.lines(of: answers, columns: columns) }

    /// - Parameters:
    ///   - answers: Each with its key.
    ///   - columns: The width of the window; nil if it has none.
    static func lines(of answers: [String], columns: Int?) -> String {
        let line = answers.joined(separator: "  ") + ": "
        let isWide = columns.map { DisplayWidth.of(line) >= $0 } ?? false
        return isWide ? answers.joined(separator: "\n") + ": " : line
    }

    /// The line that a key is typed in.
    var lastLine: String { lines.has("\n") ? Self.viewWords + ": " : lines }

    private var answers: [String] {
        keys.map { TerminalText.line("[\(Character(Unicode.Scalar($0.key)))] \($0.option.label)") } + [Self.viewWords]
    }
}
