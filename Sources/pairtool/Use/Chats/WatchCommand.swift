import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print what happens at the host, as it happens.",
        discussion: """
            A verified host reports events over one connection. If it breaks, pairtool connects again and reads what \
            it missed. A legacy host is polled every few seconds, and shows only which device is connected and which \
            projects and chats have changed.

            Examples:
              pairtool watch
              pairtool watch --json
              pairtool watch --interval 10
            """
    )

    @Option(
        help: "With a legacy host: the seconds between two requests. Default: 5.",
        transform: Seconds.init(commandLine:)
    )
    var interval = Seconds(5)

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let progress = LiveProgress()
        try await host.withSessions(options) { session in
            let writer = LiveWriter(output: session.output)
            try await session.events.run(every: interval.duration, progress: progress, patience: HostOptions.patience) {
                writer.write($0)
            }
        }
    }
}

/// Shows live events, one per line.
struct LiveWriter: Sendable {
    let output: Output

    private struct Gap: Encodable {
        var type: String
        var at: Date
        var message: String
    }

    func write(_ live: LiveEventStream.Output) {
        switch (live, output.format) {
        case (.event(let event), .json): output.json(event)
        case (.event(let event), .quiet): output.data(TerminalText.line(event.type.rawValue))
        case (.event(let event), .text) where event.type == .hello:
            output.say("Connected; what happens at the host is printed here. Ctrl-C ends it.")
        case (.event(let event), .text): output.data(TerminalText.line(text(event)))
        case (.interrupted(let reason), .json): report("interrupted", reason)
        case (.resumed(let text), .json): report("resumed", text)
        case (.interrupted(let text), _), (.resumed(let text), _): output.say(text)
        }
    }

    private func report(_ type: String, _ message: String) {
        output.json(Gap(type: type, at: output.context.now(), message: message))
    }

    private func text(_ event: LiveEvent) -> String {
        var words = [CompanionTimestamp.string(from: event.at), event.type.rawValue]
        if let name = event.deviceName ?? event.deviceId { words.append(name) }
        if let project = event.projectId { words.append("project \(project.prefix(8))") }
        if let chat = event.chatId { words.append("chat \(chat.prefix(8))") }
        if let turn = event.turnId { words.append("turn \(turn.prefix(8))") }
        if let ok = event.ok { words.append(ok ? "ok" : "failed") }
        if let address = event.address { words.append("from \(address)") }
        if let left = event.triesLeft {
            words.append(left == 0 ? "last try" : left == 1 ? "1 try left" : "\(left) tries left")
        }
        return words.joined(separator: "  ")
    }
}
