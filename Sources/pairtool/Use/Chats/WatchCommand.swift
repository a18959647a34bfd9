import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import Terminal

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print what happens on the host, as it happens.",
        discussion: """
            A verified host reports events over one connection. If it breaks, pairtool connects again and reads what \
            it missed. If a host is off, pairtool waits for it. A legacy host is polled every few seconds, and shows \
            only which device is connected and which projects and chats have changed.

            Prompts in the outbox are sent when their host is there or comes back, and tried again every minute.

            Examples:
              pairtool watch
              pairtool watch --json
              pairtool watch --all-hosts
            """
    )

    @Option(
        help: ArgumentHelp("With a legacy host: the time between two polls. Default: 5s.", valueName: "time"),
        transform: TimeSpan.init(wait:)
    )
    var interval = TimeSpan(seconds: 5)

    @Flag(help: "Watch all paired hosts at the same time.")
    var allHosts = false

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if allHosts, host.host != nil { throw ValidationError("--all-hosts and --host cannot be used together.") }
    }

    func run() async throws {
        guard !allHosts else { return try await watchAll() }
        let progress = LiveProgress()
        try await host.selector.withSessions(options.environment, saysWaiting: false) { session in
            let writer = LiveWriter(output: options.output, names: WatchedNames(session), host: session.host)
            try await session.follow(every: interval.duration, on: writer, progress: progress)
        }
    }

    private func watchAll() async throws {
        let hosts = try host.selector.pairedHosts(with: .events, for: "events", in: options.environment)
        let progress = Dictionary(hosts.map { ($0.id, LiveProgress()) }) { $1 }
        let worst = try await host.selector.follow(hosts, in: options.environment) { one, host, environment in
            guard let progress = progress[host.id] else { return }
            try await one.withSession(environment, saysWaiting: false) { session in
                let writer = LiveWriter(
                    output: options.output,
                    names: WatchedNames(session),
                    host: session.host,
                    isOneOfSeveral: true
                )
                try await session.follow(every: interval.duration, on: writer, progress: progress)
            }
        }
        if let worst { throw ExitRequest(worst) }
    }
}

extension HostSession {
    /// Prints the events of a host until it is lost. Sends what waits for it now, when it is back, when one of its chats
    /// can take another prompt, and from time to time.
    fileprivate func follow(every interval: Duration, on writer: LiveWriter, progress: LiveProgress) async throws {
        let (occasions, occasion) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        occasion.yield()
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { for await _ in occasions { await sendWaiting() } }
            group.addTask {
                while true {
                    try await ContinuousClock().sleep(for: .seconds(60))
                    occasion.yield()
                }
            }
            try await events.run(every: interval, progress: progress, patience: Reconnection.patience) {
                await writer.write($0)
                if $0.mayTakePrompts { occasion.yield() }
            }
        }
    }
}

extension LiveEventStream.Output {
    /// Whether the host may take a prompt now that it did not take before.
    fileprivate var mayTakePrompts: Bool {
        switch self {
        case .resumed: true
        case .event(let event): [.turnFinished, .chatChanged].contains(event.type)
        case .interrupted: false
        }
    }
}

/// Shows live events, one per line: for people with names and local time, in JSON as the host sent them.
struct LiveWriter: Sendable {
    let output: Output
    let names: WatchedNames
    let host: PairedHost
    /// Whether each line names the host.
    var isOneOfSeveral = false

    private struct Gap: Encodable {
        var type: String
        var at: Date
        var message: String
    }

    func write(_ live: LiveEventStream.Output) async {
        switch (live, output.format) {
        case (.event(let event), .json): json(event)
        case (.event(let event), .quiet): output.data(TerminalText.line(event.type.rawValue))
        case (.event(let event), .text) where event.type == .hello:
            output.say(TerminalText.line("Connected; events at \(host.name) are printed here. Ctrl-C ends it."))
        case (.event(let event), .text): output.data(output.fitted(TerminalText.line(prefix + (await text(event)))))
        case (.interrupted(let reason), .json): report("interrupted", message: host.naming(reason))
        case (.resumed(let text), .json): report("resumed", message: host.naming(text))
        case (.interrupted(let text), _), (.resumed(let text), _):
            output.say(TerminalText.line(isOneOfSeveral ? prefix + text : host.naming(text)))
        }
    }

    private func report(_ type: String, message: String) {
        json(Gap(type: type, at: output.context.now(), message: message))
    }

    private func json(_ row: some Encodable & Sendable) {
        if isOneOfSeveral { output.json(HostRow(row: row, host: host)) } else { output.json(row) }
    }

    private var prefix: String { isOneOfSeveral ? "\(host.name)  " : "" }

    private func text(_ event: LiveEvent) async -> String {
        var words = [TimeText.clock(event.at, now: output.context.now()), event.type.rawValue]
        if let name = await names.device(of: event) { words.append(name) }
        if let chat = event.chatId {
            words.append(await names.chat(chat, in: event.projectId, isChanged: event.type == .chatChanged))
        } else if let project = event.projectId {
            words.append(await names.project(project, isChanged: event.type == .projectChanged))
        }
        if let id = event.approvalId { words.append("\(id.shortID): \(event.title ?? "")") }
        if let person = event.decidedBy, let state = event.state { words.append("\(state) by \(person)") }
        if event.decidedBy == nil, event.type == .approvalDecided, let state = event.state { words.append(state) }
        if let mode = event.mode { words.append(mode.text) }
        if let ok = event.ok { words.append(ok ? "ok" : "failed") }
        if let address = event.address { words.append("from \(address)") }
        if let left = event.triesLeft {
            words.append(left == 0 ? "last try" : left == 1 ? "1 try left" : "\(left) tries left")
        }
        return words.joined(separator: "  ")
    }
}
