import ArgumentParser
import CompanionClient
import CompanionWire
import PairingAgent

struct ModelsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "models",
        abstract: "List the language models that the host offers; the first is the default."
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await host.withSession(options) { session in
            let models = try await session.models.models()
            guard !models.isEmpty else {
                throw CommandError(.nothingFound, "model.none", "\(session.host.name) lists no model")
            }
            session.output.list(
                models,
                columns: [
                    TableColumn("ID") { $0.id },
                    TableColumn("NAME", shrinks: true) { $0.name },
                    TableColumn("VISION") { $0.capabilities?.supports?.vision.map { $0 ? "yes" : "no" } ?? "–" },
                ],
                id: \.id
            )
        }
    }
}
