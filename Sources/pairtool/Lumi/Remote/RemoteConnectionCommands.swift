import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials
import Glibc
import Identity
import LocalState

struct RemotePingCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "ping",
        abstract: "Measure how long the Mac takes to answer.",
        discussion: """
            Examples:
              pairtool lumi remote ping
              pairtool lumi remote ping --count 20 --json
            """
    )

    @Option(name: .shortAndLong, help: "Send this many pings.")
    var count = 5

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var hostId: String
        var generation: Int
        var sent: Int
        var received: Int
        var minMs: Double?
        var medianMs: Double?
        var maxMs: Double?
    }

    func validate() throws {
        guard (1...1000).contains(count) else { throw ValidationError("--count must be 1 to 1000.") }
    }

    func run() async throws {
        try await withMac { mac in
            var times: [Duration] = []
            for _ in 0..<count {
                do {
                    times.append(try await mac.client.ping(deviceName: mac.host.deviceName ?? MachineName.current))
                } catch let error as CompanionClientError where error.code == .timedOut {
                    continue
                }
            }
            let trips = LumiRoundTrips(times)
            let row = Row(
                hostId: mac.host.id,
                generation: await mac.client.generation?.rawValue ?? 0,
                sent: count,
                received: times.count,
                minMs: trips?.shortest.milliseconds,
                medianMs: trips?.median.milliseconds,
                maxMs: trips?.longest.milliseconds
            )
            mac.output.result(row, id: nil) {
                let figures = [row.minMs, row.medianMs, row.maxMs].map { $0.map(Self.text) ?? "–" }
                return "\(row.received) of \(row.sent) answered; min/median/max \(figures.joined(separator: " / ")) ms"
            }
            guard trips != nil else {
                throw CommandError(.timedOut, "host.timed_out", "the Mac answered no ping", next: "try again")
            }
        }
    }

    private static func text(_ milliseconds: Double) -> String {
        let hundredths = Int((milliseconds * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}

extension Duration {
    /// Milliseconds with three decimal places.
    fileprivate var milliseconds: Double {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        return Double(microseconds) / 1000
    }
}

struct RemoteInfoCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show the Mac's model, system and screen size.",
        discussion: """
            Examples:
              pairtool lumi remote info
              pairtool lumi remote info --json
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var name: String
        var value: String
    }

    func run() async throws {
        try await withMac { mac in
            let rows = try await mac.client.info().map { Row(name: $0.name, value: $0.value) }
            mac.output.list(
                rows,
                columns: [TableColumn("NAME") { $0.name }, TableColumn("VALUE", shrinks: true) { $0.value }],
                id: \.name
            )
        }
    }
}

/// The process that holds a connection; ``HeldConnection`` starts it. It inherits both sockets.
struct RemoteHoldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Keep a connection that another command has handed over.",
        shouldDisplay: false
    )

    @Option(help: .hidden)
    var socket: String

    @Option(help: .hidden)
    var generation: Int

    @Option(help: .hidden)
    var seconds: Int

    func validate() throws {
        guard LumiGeneration(rawValue: generation) != nil, (1...HeldConnection.mostKeep).contains(seconds),
            Self.isSocket(HeldConnection.connection), Self.isSocket(HeldConnection.listener)
        else { throw ValidationError("pairtool itself runs this command.") }
    }

    private static func isSocket(_ descriptor: Int32) -> Bool {
        FileStatus(descriptor: descriptor)?.kind == .socket
    }

    func run() async throws {
        guard let generation = LumiGeneration(rawValue: generation) else { return }
        // Change to `/`, so that this process keeps no directory in use. Signals end it at once: the next command finds
        // the dead socket and removes it.
        guard chdir("/") == 0 else { return }
        for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
        for number in [HeldConnection.connection, HeldConnection.listener] { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        let (socket, seconds) = (socket, seconds)
        try await BlockingCall.run {
            var holder = LumiHolder(
                mac: HeldConnection.connection,
                listener: HeldConnection.listener,
                path: socket,
                generation: generation,
                idle: .seconds(seconds)
            )
            holder.run()
        }
    }
}

struct RemoteDisconnectCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect",
        abstract: "Close the connection that is kept for the next command.",
        discussion: """
            After each command, pairtool keeps a connection that the Mac's user has accepted for three minutes, so \
            that the next one need not be accepted again. PAIRTOOL_REMOTE_KEEP sets other seconds; 0 keeps none.

            Examples:
              pairtool lumi remote disconnect
              pairtool lumi remote disconnect --host Studio
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var hostId: String
        var closed: Bool
    }

    func run() async throws {
        let output = options.output
        let paired = try host.paired(.lumi, for: "remote commands", output.context)
        let held = HeldConnection(paired, output.context)
        let closed = try await BlockingCall.run { held.end() }
        output.result(Row(hostId: paired.id, closed: closed), id: nil) {
            closed
                ? "The connection to \(TerminalText.line(paired.name)) is closed."
                : "No connection to \(TerminalText.line(paired.name)) is kept."
        }
    }
}

struct RemoteNotifyCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract: "Show a notification on the Mac.",
        discussion: """
            Examples:
              pairtool lumi remote notify "Tea is ready"
              pairtool lumi remote notify "Build failed" --title CI
            """
    )

    @Argument(help: "The message.", transform: { try LumiNotificationText($0) })
    var message: LumiNotificationText

    @Option(help: "The title. Default: pairtool.", transform: { try LumiNotificationText($0) })
    var title: LumiNotificationText?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await perform(.notify(title: try title ?? LumiNotificationText("pairtool"), message: message))
    }
}
