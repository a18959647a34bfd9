package import CompanionWire
import NIOConcurrencyHelpers
import NIOPosix

/// The agent that is always there: it explores a project's files without a model, read-only, and never leaves the
/// project's directory.
package struct BuiltinAgent: Agent {
    /// The tools that it uses. They only read, and only inside the project, so it does not ask before it uses them.
    package enum Tool: String, Sendable, CaseIterable {
        case listDirectory = "list_directory"
        case findFiles = "find_files"
        case search = "search"
        case readFile = "read_file"
        case gitLog = "git_log"
    }

    /// The id of its only model.
    package static let modelID = "builtin"

    package let models = [CompanionModel(id: modelID, name: "Project explorer", capabilities: .blind)]

    package init() {}

    package let changesFiles = false

    package func isAvailable() -> Bool { true }

    package func answer(_ turn: AgentTurn, conversation: AgentConversation) async throws {
        let emit = conversation.emit
        let command = BuiltinCommand(prompt: turn.prompt)
        if case .help = command {
            emit(.text(BuiltinText.help))
            return
        }
        try await Self.run(command, in: turn.directory, asMarkdown: true, emit: emit)
    }

    /// Carries out a command.
    ///
    /// - Parameter asMarkdown: Whether the answer is for people: see ``AnswerLines``.
    static func run(
        _ command: BuiltinCommand,
        in directory: String,
        asMarkdown: Bool,
        emit: @escaping @Sendable (TurnEvent) -> Void
    ) async throws {
        if case .log(let count) = command {
            let log = GitLog(directory: directory, isMarkdown: asMarkdown)
            try await log.answer(count: count, emit: emit)
            return
        }
        try await withCancellation { isCancelled in
            let explorer = try Explorer(
                directory: directory,
                lines: AnswerLines(isMarkdown: asMarkdown),
                emit: emit,
                isCancelled: isCancelled
            )
            explorer.run(command)
        }
    }

    /// Runs blocking work on a thread that is there for it, and tells it when the task is cancelled.
    private static func withCancellation(_ work: @escaping @Sendable (CancellationFlag) throws -> Void) async throws {
        let flag = CancellationFlag()
        try await withTaskCancellationHandler {
            try await NIOThreadPool.singleton.runIfActive { try work(flag) }
        } onCancel: {
            flag.set()
        }
        try Task.checkCancellation()
    }
}

/// Tells blocking work that it was cancelled.
struct CancellationFlag: Sendable {
    private let value = NIOLockedValueBox(false)

    var isSet: Bool {
        value.withLockedValue { $0 }
    }

    func set() {
        value.withLockedValue { $0 = true }
    }
}
