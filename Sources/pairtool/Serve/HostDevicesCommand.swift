import ArgumentParser
import CompanionHost
import FoundationEssentials

struct HostDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the devices that are paired with the running host, and their permissions.",
        discussion: """
            Examples:
              pairtool host devices
              pairtool host devices --json
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let devices = try await output.ask(AdminRequest(.devices)).devices ?? []
        guard !devices.isEmpty else {
            throw CommandError(.nothingFound, "device.none", "no device is paired yet", next: "pairtool host pair")
        }
        let now = output.context.now()
        output.list(
            devices.map(AdminDeviceRow.init),
            columns: [
                TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
                TableColumn("MAY", shrinks: true) { $0.rights },
                TableColumn("UNTIL", rank: 2) { row in row.expiresAt.map { Self.until($0, now: now) } ?? "–" },
                TableColumn("PAIRED", rank: 4) { TimeText.ago($0.pairedAt, now: now) },
                TableColumn("SEEN", rank: 3) { TimeText.ago($0.lastSeenAt, now: now) },
                TableColumn("V", rank: 5) { "\($0.protocolVersion)" },
                TableColumn("ID", rank: 0) { $0.id },
            ],
            id: \.id
        )
    }

    private static func until(_ end: Date, now: Date) -> String {
        end > now ? "in \(TimeText.span(end.timeIntervalSince(now)))" : "over"
    }
}
