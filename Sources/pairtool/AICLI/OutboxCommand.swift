import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity

struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "List, send, retry and remove the prompts that wait for an AICLI host.",
        discussion: """
            pairtool keeps a prompt that it could not send, and sends it once, in order, before the next one. A \
            prompt that may have been sent already is marked “uncertain”. It is sent again only if you say so.

            Examples:
              pairtool aicli outbox
              pairtool aicli outbox send
              pairtool aicli outbox remove 3f2a
            """,
        subcommands: [List.self, Send.self, Retry.self, Remove.self],
        defaultSubcommand: List.self
    )

    fileprivate static let nothing = CommandError(.nothingFound, "outbox.empty", "no prompt is waiting")

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the waiting prompts.",
            discussion: """
                Examples:
                  pairtool aicli outbox list
                  pairtool aicli outbox list --json
                """
        )

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            let prompts = try host.outboxStore(output.context).outbox().prompts
            guard !prompts.isEmpty else { throw OutboxCommand.nothing }
            let now = output.context.now()
            output.list(
                prompts.map(WaitingRow.init),
                columns: [
                    TableColumn("ID", rank: 0) { $0.id },
                    TableColumn("STATE") { $0.state.rawValue },
                    TableColumn("WRITTEN", rank: 3) { TimeText.ago($0.writtenAt, now: now) },
                    TableColumn("DIRECTORY", shrinks: true, rank: 2) { $0.workingDirectory },
                    TableColumn("PROMPT", shrinks: true, rank: 0) { $0.prompt },
                ],
                id: \.id
            )
        }
    }

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "send",
            abstract: "Send the waiting prompts, oldest first, and print their answers.",
            discussion: """
                Examples:
                  pairtool aicli outbox send
                  pairtool aicli outbox send --host Studio
                """
        )

        @OptionGroup var rendering: RenderingOptions
        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            try await rendering.prepare(options)
            var output = options.output
            output.isPlain = rendering.plain
            try await host.withAICLI(options, for: "the outbox") { aicli in
                guard try aicli.store.outbox().next != nil else { throw OutboxCommand.nothing }
                var writer: TurnWriter?
                // A host that cannot be reached ends the sending without the end of a turn.
                defer { writer?.endLine() }
                var failures = 0
                try await aicli.sendWaiting { prompt in
                    writer = TurnWriter(
                        output: output,
                        chatID: AICLISessionTable.chatID(for: prompt.workingDirectory)
                    )
                    output.say(TerminalText.line("› \(prompt.prompt)"))
                } emit: { output in
                    writer?.write(output)
                } end: { outcome in
                    switch outcome {
                    case .success(let summary): writer?.write(.finished(summary))
                    case .failure(let error):
                        writer?.endLine()
                        failures += 1
                        output.report(CommandError(describing: error))
                    }
                }
                if failures > 0 { throw ExitRequest(status: .failed) }
            }
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: "Send an uncertain prompt again, with the next one.",
            discussion: """
                Examples:
                  pairtool aicli outbox retry 3f2a
                  pairtool aicli outbox retry 3f2a --host Studio
                """
        )

        @Argument(help: "The prompt's id.")
        var id: String
        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            try host.changeOutbox(id, options.output, "will be sent again") { $0.putBack($1) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a waiting prompt.",
            discussion: """
                Examples:
                  pairtool aicli outbox remove 3f2a
                  pairtool aicli outbox remove 3f2a --json
                """
        )

        @Argument(help: "The prompt's id.")
        var id: String
        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            try host.changeOutbox(id, options.output, "removed") { $0.finish($1) }
        }
    }
}

extension HostOptions {
    /// The store of the prompts that wait. This does not contact the host, which may be off.
    fileprivate func outboxStore(_ context: CommandContext) throws -> AICLIStore {
        AICLISessions.store(of: try paired(.aicli, for: "the outbox", context).id, context: context)
    }

    fileprivate func changeOutbox(
        _ id: String,
        _ output: Output,
        _ what: String,
        _ body: (inout AICLIOutbox, String) -> Void
    ) throws {
        let changed = try outboxStore(output.context).updateOutbox { outbox in
            guard let prompt = outbox.prompts.first(where: { $0.id == id }) else {
                throw CommandError(
                    .nothingFound,
                    "outbox.unknown",
                    "no waiting prompt has the id “\(id)”",
                    next: "pairtool aicli outbox"
                )
            }
            body(&outbox, id)
            return outbox.prompts.first { $0.id == id } ?? prompt
        }
        output.result(WaitingRow(changed), id: id) { "\(TerminalText.line(id)) \(what)." }
    }
}

/// A waiting prompt in JSON.
struct WaitingRow: Encodable {
    var id: String
    var state: AICLIWaitingPrompt.State
    var writtenAt: Date
    var workingDirectory: String
    var chatId: String
    var prompt: String

    init(_ waiting: AICLIWaitingPrompt) {
        id = waiting.id
        state = waiting.state
        writtenAt = waiting.writtenAt
        workingDirectory = waiting.workingDirectory
        chatId = AICLISessionTable.chatID(for: waiting.workingDirectory)
        prompt = waiting.prompt
    }
}
