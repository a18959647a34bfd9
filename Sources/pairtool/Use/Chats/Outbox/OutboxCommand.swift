import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Terminal

struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "List, send and remove prompts that wait for hosts.",
        discussion: """
            A prompt written while its host was away (pairtool send --queue) waits on this machine and is sent once: \
            by pairtool outbox send, by pairtool watch or auto once the host is back, or before the next prompt in its \
            chat. Other commands only tell you that it waits. watch and auto do not answer an agent's questions, so \
            they send verified hosts no prompts with --allow-tool, --allow-all-tools or --deny-questions. They send \
            AICLI servers none, because those answer only the program that sent the prompt. A prompt that may have \
            been sent already is marked “uncertain”, and is sent again only if you say so.

            Examples:
              pairtool outbox
              pairtool outbox send
              pairtool outbox remove 3f2a
            """,
        subcommands: [
            OutboxListCommand.self, OutboxShowCommand.self, OutboxSendCommand.self, OutboxRemoveCommand.self,
        ],
        defaultSubcommand: OutboxListCommand.self
    )
}

struct OutboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the waiting prompts for all hosts.",
        discussion: """
            Examples:
              pairtool outbox list
              pairtool outbox list --host Studio --json
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let prompts = try QueuedPrompt.all(host.selector, in: options.environment)
        guard !prompts.isEmpty else { throw OutboxRun.nothing }
        let now = output.context.now()
        output.list(
            prompts.map(WaitingRow.init),
            columns: [
                TableColumn("ID", rank: 0) { $0.id },
                TableColumn("STATE") { $0.state.rawValue },
                TableColumn("HOST", shrinks: true) { $0.hostName },
                TableColumn("WRITTEN", rank: 3) { TimeText.ago($0.writtenAt, now: now) },
                TableColumn("CHAT", shrinks: true, rank: 2) { $0.chatTitle ?? $0.workingDirectory },
                TableColumn("PROMPT", shrinks: true, rank: 0) { $0.prompt },
            ],
            id: \.id
        )
    }
}

struct OutboxShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a waiting prompt in full, and why it was not sent.",
        discussion: """
            Examples:
              pairtool outbox show 3f2a
              pairtool outbox show 3f2a --json
            """
    )

    @Argument(help: "The prompt, by id prefix.")
    var id: String
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let row = WaitingRow(try QueuedPrompt.find(id, of: host.selector, in: options.environment))
        let now = output.context.now()
        output.result(row, id: row.id) {
            let facts: FactList = [
                "id": row.id,
                "state": row.state.rawValue + (row.reason.map { ": \($0)" } ?? ""),
                "host": row.hostName,
                "chat": row.chatTitle ?? row.workingDirectory,
                "written": TimeText.ago(row.writtenAt, now: now),
                "tools": row.tools,
            ]
            return output.fitted(facts) + "\n\n" + TerminalText.block(row.prompt)
        }
    }
}

struct OutboxSendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send the waiting prompts, oldest first, and print their answers.",
        discussion: """
            Examples:
              pairtool outbox send
              pairtool outbox send --host Studio
              pairtool outbox send --again 3f2a
            """
    )

    @Argument(help: "Only this prompt, by id prefix. Default: all waiting prompts.")
    var id: String?
    @Option(help: "Send this prompt even if it may have been sent already or was refused.")
    var again: String?
    @OptionGroup var rendering: RenderingOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if id != nil, again != nil { throw ValidationError("Name the prompt once: as ID or with --again.") }
    }

    func run() async throws {
        var output = options.output
        output.isPlain = rendering.plain
        let run = OutboxRun(hosts: host.selector, environment: output.environment(), view: output.turnView)
        let choice = again.map(OutboxRun.Choice.again) ?? id.map(OutboxRun.Choice.one) ?? .all
        if let worst = try await run.run(choice) { throw ExitRequest(worst) }
    }
}

struct OutboxRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a waiting prompt.",
        discussion: """
            Examples:
              pairtool outbox remove 3f2a
              pairtool outbox remove 3f2a --json
            """
    )

    @Argument(help: "The prompt, by id prefix.")
    var id: String
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let found = try QueuedPrompt.find(id, of: host.selector, in: options.environment)
        try found.remove()
        let id = found.prompt.id
        options.output.result(WaitingRow(found), id: id) { "\(TerminalText.line(id)) removed." }
    }
}
