import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import LocalState
import PairingAgent
import Terminal

struct CapabilitiesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capabilities",
        abstract: "Show what a paired host can do, and the command for it.",
        discussion: """
            Examples:
              pairtool capabilities
              pairtool capabilities --host Studio --json
            """
    )

    @Option(
        help: "The paired host, by name or id prefix. Default: $PAIRTOOL_HOST, then the default host.",
        completion: .custom { _, _, _ in Completions.hosts() }
    )
    var host: String?

    @OptionGroup var options: OutputOptions

    private static let timeouts = CompanionClientConfiguration.Timeouts(connect: .seconds(2), request: .seconds(4))

    func run() async throws {
        let output = options.output
        let hosts = try PairedHostStore(directory: output.context.paths.data).load()
        let selected = try PairedHostSelection.select(host ?? options.environment.hostVariable, in: hosts)
        let health = try await health(of: selected, on: output)
        let rows = HostCapability.all(of: selected, health: health).map { Row($0, of: selected, health: health) }
        if output.format == .text {
            let kind = health?.generation.map { " (\($0))" } ?? ""
            output.say(
                "\(TerminalText.line(selected.name)): \(selected.family.displayName)\(kind), \(selected.trust.rawValue)"
            )
        }
        output.list(
            rows,
            columns: [
                TableColumn("CAN", rank: 0) { $0.capability.available ? "yes" : "no" },
                TableColumn("WHAT", shrinks: true, rank: 0) { $0.capability.text },
                TableColumn("COMMAND") { $0.capability.command ?? "–" },
                TableColumn("NOTE", shrinks: true, rank: 2) { $0.capability.note ?? "" },
            ],
            id: \.capability.capability
        )
    }

    /// Asks the host only if its family needs to. If it does not answer, its family alone says what it offers.
    private func health(of host: PairedHost, on output: Output) async throws -> HostHealth? {
        do {
            guard host.family.behavior.facts.reportsGeneration else { return nil }
            return try await host.family.behavior.health(
                of: host,
                environment: output.environment(),
                timeouts: Self.timeouts
            )
        } catch let error as CompanionClientError {
            output.warn(AppError(describing: error).adding("The list shows what hosts of its family can do."))
            return nil
        }
    }

    private struct Row: Encodable {
        var host: String
        var name: String
        var family: HostFamily
        var trust: HostTrust
        var generation: String?
        var capability: HostCapability

        init(_ capability: HostCapability, of host: PairedHost, health: HostHealth?) {
            self.host = host.id
            name = host.name
            family = host.family
            trust = host.trust
            generation = health?.generation
            self.capability = capability
        }

        private enum CodingKeys: String, CodingKey {
            case host, name, family, trust, generation
        }

        /// Writes the fields of both into one flat object.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(host, forKey: .host)
            try container.encode(name, forKey: .name)
            try container.encode(family, forKey: .family)
            try container.encode(trust, forKey: .trust)
            try container.encodeIfPresent(generation, forKey: .generation)
            try capability.encode(to: encoder)
        }
    }
}
