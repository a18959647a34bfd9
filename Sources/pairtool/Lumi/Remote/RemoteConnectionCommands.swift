import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import LocalState
import PairingAgent
import Terminal

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

    func run(on mac: RemoteMac, output: Output) async throws {
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
        output.result(row, id: nil) {
            let figures = [row.minMs, row.medianMs, row.maxMs].map { $0.map(Self.text) ?? "–" }
            return "\(row.received) of \(row.sent) answered; min/median/max \(figures.joined(separator: " / ")) ms"
        }
        guard trips != nil else {
            throw AppError(.timedOut, "host.timed_out", "the Mac answered no ping", next: "try again")
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

    func run(on mac: RemoteMac, output: Output) async throws {
        let rows = try await mac.client.info().map { Row(name: $0.name, value: $0.value) }
        output.list(
            rows,
            columns: [TableColumn("NAME") { $0.name }, TableColumn("VALUE", shrinks: true) { $0.value }],
            id: \.name
        )
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

    func run(on mac: RemoteMac, output: Output) async throws {
        try await mac.perform(
            .notify(title: try title ?? LumiNotificationText("pairtool"), message: message),
            output: output
        )
    }
}
