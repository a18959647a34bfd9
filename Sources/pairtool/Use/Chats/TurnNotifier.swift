import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials

/// Whether the end of an answer may be shown on the desktop.
struct NotificationOptions: ParsableArguments {
    @Flag(help: "Show nothing on the desktop when a long answer ends, fails, or the agent asks a question.")
    var noNotify = false

    /// The context for the command.
    var context: CommandContext {
        var context = CommandContext.current
        if noNotify { context.notifies = false }
        return context
    }
}

/// Tells the user on the desktop that a turn needs attention. Silent where there is no desktop.
struct TurnNotifier: Sendable {
    /// Turns that take longer are reported.
    static let longTurn: Double = 20
    /// A desktop that does not answer holds up no command.
    private static let limit = Duration.seconds(2)

    let context: CommandContext
    let hostName: String

    /// Shows a notification if the user wants its kind and does not look at the terminal anyway. It has the chat's title
    /// and the host's name, and nothing of what was said.
    func show(_ kind: NotificationKind, chat: String) async {
        guard context.notifies, context.isInFront() != true,
            context.environment["DBUS_SESSION_BUS_ADDRESS"]?.isEmpty == false,
            Choices.load(context.paths).notifications.contains(kind)
        else { return }
        let title =
            switch kind {
            case .finished: "The answer is there"
            case .question: "The agent asks a question"
            case .error: "An error ended the answer"
            }
        let body = [chat, hostName].filter { !$0.isEmpty }.map { TerminalText.line($0.scalars(atMost: 100)) }
        let environment = context.environment
        _ = try? await withTimeLimit(Self.limit) {
            try await NotificationService.with(environment: environment) { service in
                _ = try await service.show(title: title, body: body.joined(separator: ", "))
            }
        }
    }

    /// Runs a turn, and shows its end if it took long and nobody has stopped it.
    func watch<R>(chat: String, _ body: () async throws -> R) async throws -> R {
        let begin = context.now()
        var isLong: Bool { context.now().timeIntervalSince(begin) > Self.longTurn }
        do {
            let result = try await body()
            if isLong { await show(.finished, chat: chat) }
            return result
        } catch {
            let isStopped = Task.isCancelled || error is CancellationError || error is TurnCancelled
            if isLong, !isStopped { await show(.error, chat: chat) }
            throw error
        }
    }
}
