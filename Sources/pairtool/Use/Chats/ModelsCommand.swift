import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import PairingAgent
import Terminal

struct ModelsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "models",
        abstract: "List the host's models and agents; the first is the default.",
        discussion: """
            Examples:
              pairtool models
              pairtool models -q
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await host.selector.withSession(options.environment) { session in
            let models = try await session.models.models()
            guard !models.isEmpty else {
                throw AppError.empty("No model on \(session.host.name)")
            }
            options.output.list(
                models,
                columns: [
                    TableColumn("ID", rank: 0) { $0.id },
                    TableColumn("NAME", shrinks: true) { $0.name },
                    TableColumn("VISION") { $0.capabilities?.supports?.vision.map { $0 ? "yes" : "no" } ?? "–" },
                ],
                id: \.id
            )
        }
    }
}
