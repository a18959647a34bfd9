import CompanionApp
import CompanionWire
import LocalState

/// Asks the user at the terminal. The question goes to standard error.
struct Question {
    let context: CommandContext

    /// Asks a yes-or-no question; any answer but yes means no.
    func confirm(_ text: String) async throws -> Bool {
        let answer = try await context.drawing.pause {
            try await line(TerminalText.block(text) + " [y/N] ")
        }
        // Ctrl-D leaves the cursor behind the question.
        if answer == nil { context.stderr.write("\n") }
        return ["y", "yes"].contains((answer ?? "").trimmingWhitespace().lowercased())
    }

    private func line(_ question: String) async throws -> String? {
        let context = context
        return try await BlockingCall.run { try context.stdin.readAnswer { context.stderr.write(question) } }
    }

    /// Lets the user choose by number.
    ///
    /// - Returns: The index of the choice, or nil if the user made none.
    func choose(_ text: String, from choices: [String]) async throws -> Int? {
        try await context.drawing.pause { try await chosen(text, from: choices) }
    }

    private func chosen(_ text: String, from choices: [String]) async throws -> Int? {
        context.stderr.write(TerminalText.block(text) + "\n")
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

    /// Asks for a secret, which is not shown while it is typed.
    func secret(_ text: String) async throws -> String? {
        context.stderr.write(text)
        let input = context.stdin
        defer { context.stderr.write("\n") }
        return try await BlockingCall.run { try input.readLine(echo: false) }
    }

    /// Asks for the six digits that a host shows, until the user types six digits.
    ///
    /// - Throws: ``AppError`` if the user types nothing.
    func pairingCode(of hostName: String) async throws -> String {
        while true {
            let prompt = "Six digits that \(TerminalText.line(hostName)) shows: "
            guard let line = try await secret(prompt), !line.trimmingWhitespace().isEmpty else {
                throw AppError(.usage, "pairing.no_code", "no code was typed; nothing was sent")
            }
            if let code = PairingPayload.code(typed: line) { return code }
            context.stderr.write("A pairing code has six digits.\n")
        }
    }
}

extension PairingPayload {
    /// The six digits in a line; they may be grouped as hosts show them.
    static func code(typed line: String) -> String? {
        let digits = line.filter { !$0.isWhitespace && $0 != "-" }
        return isCode(digits) ? digits : nil
    }
}
