import ArgumentParser
import CompanionApp
import CompanionWire
import FoundationEssentials
import PairingAgent
import Relay
import Terminal

struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "Check a relay, or print the unit that runs one.",
        discussion: """
            A relay joins a host and its devices where neither can reach the other. Any Syncthing relay does \
            (strelaysrv, Debian package syncthing-relaysrv). It sees how much is sent and when, and nothing else.

            Examples:
              pairtool relay check relay://relay.example:22067
              pairtool relay unit
            """,
        subcommands: [RelayCheckCommand.self, RelayUnitCommand.self]
    )
}

struct RelayCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Show whether a relay works, its id, and how fast it is.",
        discussion: """
            Joins the relay twice with keys made for that, and sends data from one to the other for two seconds.

            Examples:
              pairtool relay check relay://relay.example:22067
              pairtool relay check relay://relay.example:443 --json
            """
    )

    @Argument(help: "The relay: relay://MACHINE[:PORT]/[?id=…].", transform: RelayAddress.init(commandLine:))
    var relay: RelayAddress
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let check: RelayCheck
        do {
            let client = RelayClient(
                address: relay,
                identity: try RelayIdentity.make(),
                logger: options.environment.logger("relay")
            )
            check = try await client.check()
        } catch let error as RelayError {
            throw AppError(describing: error)
        }
        let row = RelayRow(check, at: relay)
        output.result(row, id: row.id) { output.fitted(row.facts) }
        guard check.isExpected else {
            throw output.ended(
                by: AppError(
                    .failed,
                    "relay.wrong_id",
                    "the relay at \(relay.authority) shows another id than its address has"
                )
            )
        }
    }
}

/// The findings about a relay, in JSON.
private struct RelayRow: Encodable {
    /// The address, with the id that the relay shows.
    var address: RelayAddress
    var id: String
    /// Whether the id is the one that was given; absent if none was.
    var isExpected: Bool?
    var latencyMilliseconds: Double
    var openingMilliseconds: Double
    /// In one direction, over one connection.
    var bytesPerSecond: Int

    init(_ check: RelayCheck, at given: RelayAddress) {
        address = given.replacingID(with: check.shownID)
        id = "\(check.shownID)"
        isExpected = check.expectedID == nil ? nil : check.isExpected
        latencyMilliseconds = (check.latency / .microseconds(10)).rounded() / 100
        openingMilliseconds = (check.openingTime / .microseconds(10)).rounded() / 100
        bytesPerSecond = Int(check.bytesPerSecond)
    }

    var facts: FactList {
        [
            "relay": address.authority,
            "id": id + (isExpected == false ? " (not the one that you gave)" : ""),
            "latency": "\(latencyMilliseconds) ms",
            "connects in": "\(openingMilliseconds) ms",
            "throughput": "\(bytesPerSecond / 1_000_000) MB/s",
            "address": "\(address)",
        ]
    }
}

struct RelayUnitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unit",
        abstract: "Print a systemd unit that runs a relay of your own, announced to nobody.",
        discussion: """
            Examples:
              pairtool relay unit
              pairtool relay unit --port 22067 --rate 20
            """
    )

    @Option(help: "The TCP port to listen on. Ports below 1024 need no other right: the unit has it.")
    var port = 443
    @Option(help: ArgumentHelp("The most that all connections may send together, in MB a second.", valueName: "mb"))
    var rate = 50
    @Option(help: ArgumentHelp("The most that one connection may send, in MB a second.", valueName: "mb"))
    var sessionRate = 10
    @OptionGroup var options: OutputOptions

    func validate() throws {
        guard (1...65535).contains(port) else { throw ValidationError("--port must be 1 to 65535.") }
        guard (1...10_000).contains(rate), (1...10_000).contains(sessionRate) else {
            throw ValidationError("--rate and --session-rate must be 1 to 10000.")
        }
    }

    func run() async throws {
        let unit = RelayUnit(port: port, rate: rate, sessionRate: sessionRate)
        options.output.result(unit, id: "pairtool-relay.service") { unit.text }
    }
}
