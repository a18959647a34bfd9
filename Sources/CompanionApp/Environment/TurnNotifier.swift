import CompanionClient
import CompanionWire
import Desktop
import FoundationEssentials

/// Tells the user on the desktop that a turn needs attention. Silent where there is no desktop.
package struct TurnNotifier: Sendable {
    /// Turns that take longer are reported.
    static let longTurn: Double = 20
    /// A desktop that does not answer holds up no command.
    private static let limit = Duration.seconds(2)

    let environment: AppEnvironment
    let hostName: String

    package init(environment: AppEnvironment, hostName: String) {
        self.environment = environment
        self.hostName = hostName
    }

    /// Shows a notification if the user wants its kind and does not look at the terminal anyway. It has the chat's title
    /// and the host's name, and nothing of what was said.
    package func show(_ kind: NotificationKind, chat: String) async {
        let variables = environment.variables
        guard variables["DBUS_SESSION_BUS_ADDRESS"]?.isEmpty == false, environment.notifies(kind) else { return }
        let title =
            switch kind {
            case .finished: "The answer is there"
            case .question: "The agent asks a question"
            case .error: "An error ended the answer"
            }
        let body = [chat, hostName].filter { !$0.isEmpty }.map { TerminalText.line($0.scalars(atMost: 100)) }
        _ = try? await withTimeLimit(Self.limit) {
            try await NotificationService.with(environment: variables) { service in
                _ = try await service.show(title: title, body: body.joined(separator: ", "))
            }
        }
    }

    /// Runs a turn, and shows its end if it took long and nobody has stopped it.
    package func watch<R>(chat: String, _ body: () async throws -> R) async throws -> R {
        let begin = environment.now()
        var isLong: Bool { environment.now().timeIntervalSince(begin) > Self.longTurn }
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

/// The host has cancelled a turn, because the user wanted it.
package struct TurnCancelled: Error {}
