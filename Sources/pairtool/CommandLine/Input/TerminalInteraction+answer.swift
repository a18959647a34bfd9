import CompanionWire
import Markdown
import PairingAgent
import Terminal

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
