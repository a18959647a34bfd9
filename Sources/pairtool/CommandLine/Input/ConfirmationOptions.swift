import ArgumentParser
import PairingAgent
import Terminal

/// The option `--yes` of commands that remove what cannot be had back. They ask first, and do nothing where nobody can
/// be asked: a script that meant it says so.
struct ConfirmationOptions: ParsableArguments {
    @Flag(help: "Do not ask first. Without a terminal, the command does nothing unless you use this.")
    var yes = false

    /// Asks the user, before anything is removed.
    ///
    /// - Parameters:
    ///   - question: The question that names the change. The caller sanitises names of peers.
    ///   - code: The code of the error if the answer is no.
    ///   - output: The output for the question and the error.
    ///   - outcome: The state of things, for the error if the answer is no. Default: nothing was removed.
    /// - Throws: ``AppError``: the answer is no, or there is no terminal to ask on.
    func confirm(
        _ question: String,
        code: String,
        output: Output,
        outcome: String = "nothing was removed"
    ) async throws {
        guard !yes else { return }
        try await TerminalInteraction(output: output).confirm(question, code: code, outcome: outcome)
    }
}
