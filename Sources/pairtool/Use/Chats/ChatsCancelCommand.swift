import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import PairingAgent
import Terminal

struct ChatsCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel a turn on a verified host.",
        discussion: """
            Without TURN, cancels the last turn that this machine started in the chat.

            Examples:
              pairtool chats cancel "show beds"
              pairtool chats cancel 3f2a --host Studio
            """
    )

    @Argument(
        help: "The chat, by title or id prefix.",
        completion: .custom { words, _, _ in await Completions.chats(words) }
    )
    var chat: String

    @Argument(help: "The turn's id, as `pairtool send --json` gives it.")
    var turn: String?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var chatId: String
        var turnId: String
        /// The turn's state after the request, as the host reports it.
        var state: String?
    }

    func run() async throws {
        try await host.selector.withSession(options.environment) { session in
            let cancellation = try session.cancellation
            let chatID = try await session.chat(chat).chat.id
            let turns = LastTurns(environment: session.environment)
            guard let turnID = try turn ?? turns.last(chatID: chatID, host: session.host) else {
                throw AppError(
                    .nothingFound,
                    "turn.none",
                    "this machine knows of no turn that it started in that chat",
                    next: "name the turn: pairtool chats cancel \(chatID.shortID) TURN"
                )
            }
            let state = try await cancellation.cancelTurn(chatID: chatID, turnID: turnID)
            let row = Row(chatId: chatID, turnId: turnID, state: state)
            options.output.result(row, id: turnID) {
                let state = row.state ?? "ended"
                let note =
                    ["finished", "failed"].contains(state) ? " (it had already ended)" : ""
                return TerminalText.line("Turn \(turnID): \(state)\(note)")
            }
        }
    }
}
