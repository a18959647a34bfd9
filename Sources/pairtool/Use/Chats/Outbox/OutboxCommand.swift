import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Terminal

struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "List, send and remove the prompts that wait for hosts.",
        discussion: """
            A prompt that was written while its host was away (pairtool send --queue) waits on this machine and is \
            sent once: by pairtool outbox send, by pairtool watch or auto once the host is back, or before the next \
            prompt of its chat. Other commands only say that it waits. For a verified host, one with --allow-tool, \
            --allow-all-tools or --deny-questions is not sent by watch and auto, which do not answer the agent's \
            questions. Nor is one for an AICLI server, which answers only the program that sent the prompt. One that \
            may have been sent already is marked “uncertain”. It is sent again only if you say so.

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

    fileprivate static let nothing = AppError(.nothingFound, "outbox.empty", "no prompt is waiting")
}

struct OutboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the waiting prompts of all hosts.",
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
        guard !prompts.isEmpty else { throw OutboxCommand.nothing }
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
        abstract: "Show a waiting prompt as it is, and why it was not sent.",
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
            var lines = [
                "id       \(row.id)", "state    \(row.state.rawValue)\(row.reason.map { ": \($0)" } ?? "")",
                "host     \(row.hostName)", "chat     \(row.chatTitle ?? row.workingDirectory)",
                "written  \(TimeText.ago(row.writtenAt, now: now))", "tools    \(row.tools)",
            ].map(TerminalText.line)
            lines += ["", TerminalText.block(row.prompt)]
            return lines.joined(separator: "\n")
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

    @Argument(help: "Only this prompt, by id prefix. Default: all that wait.")
    var id: String?
    @Option(help: "Send this prompt although it may have been sent already, or was refused.")
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
        let environment = output.environment()
        var chosen: QueuedPrompt?
        if let word = again ?? id { chosen = try QueuedPrompt.find(word, of: host.selector, in: environment) }
        if let chosen, again != nil { try chosen.store.update { $0.sendAgain(chosen.prompt.id) } }
        if chosen == nil { try await askAboutUncertain(environment) }
        let waiting = try QueuedPrompt.all(host.selector, in: environment).filter { queued in
            queued.prompt.state == .waiting && chosen.map { $0.prompt.id.isSame(as: queued.prompt.id) } ?? true
        }
        guard !waiting.isEmpty else {
            var nothing = OutboxCommand.nothing
            if try !QueuedPrompt.all(host.selector, in: environment).isEmpty {
                nothing.next = "those that may have been sent, or were refused: pairtool outbox send --again ID"
            }
            throw nothing
        }
        var failed: [AppError.Kind] = []
        for target in waiting.map(\.host).unique {
            do {
                let outcome = try await send(to: target, only: chosen?.prompt.id, shownOn: output)
                failed += outcome.failures
                if outcome.isCancelled { break }
            } catch {
                try Task.checkCancellation()
                let failure = AppError(describing: error).adding("What waits for \(target.name) keeps waiting.")
                output.report(failure)
                failed.append(failure.kind)
            }
        }
        if let worst = failed.max() { throw ExitRequest(worst) }
    }

    private func send(
        to target: PairedHost,
        only id: String?,
        shownOn output: Output
    ) async throws -> OutboxSender.Outcome {
        try await host.selector.naming(target).withSession(output.environment(), saysWaiting: false) { session in
            try await OutboxSender(session, mode: .showing(output.turnView)).send { id?.isSame(as: $0.id) ?? true }
        }
    }

    private func askAboutUncertain(_ environment: AppEnvironment) async throws {
        guard environment.interaction.canAsk else { return }
        for queued in try QueuedPrompt.all(host.selector, in: environment) where queued.prompt.state == .uncertain {
            let name = TerminalText.line(queued.host.name)
            let question = "\(name) may have got this already: \(queued.prompt.excerpt)\nSend it again?"
            if try await environment.interaction.confirm(question) {
                try queued.store.update { $0.sendAgain(queued.prompt.id) }
            }
        }
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
        let id = found.prompt.id
        try found.store.update { $0.finish(id) }
        options.output.result(WaitingRow(found), id: id) { "\(TerminalText.line(id)) removed." }
    }
}
