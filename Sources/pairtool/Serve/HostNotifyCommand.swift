import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import PairingAgent
import Terminal

struct HostNotifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract: "Check the notifications of the running host.",
        discussion: """
            A host notifies the addresses of --notify, or those in config.toml, when an agent waits.

            Examples:
              pairtool host notify test
              pairtool host notify test --json
            """,
        subcommands: [HostNotifyTestCommand.self]
    )
}

struct HostNotifyTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Send a test to each address that the running host notifies.",
        discussion: """
            Exits with 1 if one of them did not take it.

            Examples:
              pairtool host notify test
              pairtool host notify test --json
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let outcomes = try await output.owner.testNotifications()
        guard !outcomes.isEmpty else {
            throw AppError(
                .nothingFound,
                "notify.none",
                "no notifications are set up",
                next:
                    "start it with --notify, or with addresses in [notify] of config.toml: pairtool host --notify ntfy://ntfy.sh/TOPIC"
            )
        }
        output.list(
            outcomes,
            columns: [
                TableColumn("ADDRESS", shrinks: true, rank: 0) { $0.target },
                TableColumn("OUTCOME", shrinks: true, rank: 1) { $0.failure.map { "failed: \($0)" } ?? "sent" },
            ],
            id: \.target
        )
        let failed = outcomes.count { $0.failure != nil }
        guard failed == 0 else {
            throw output.ended(by: AppError(.failed, "notify.failed", "\(failed) of \(outcomes.count) were not sent"))
        }
    }
}
