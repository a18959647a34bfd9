import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Terminal

struct AutomationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "automations",
        abstract: "List the automations that were pulled from a Lumi host. They run on the Mac.",
        discussion: """
            Examples:
              pairtool lumi automations
              pairtool lumi automations --json
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    /// An automation in JSON.
    struct Row: Encodable {
        var id: String
        var title: String
        var notes: String
        var trigger: String
        var agentId: String?
        var agentName: String?
        var isEnabled: Bool
        var lastRunAt: Date?
        var createdAt: Date?
        var updatedAt: Date?
    }

    func run() async throws {
        let pulled = try host.selector.pulledHost(options.environment)
        let names = Dictionary(try pulled.store.loadAgents()?.items.map { ($0.id, $0.name) } ?? []) { first, _ in first
        }
        let rows = try pulled.automations().map { automation in
            Row(
                id: LumiStore.id(automation.id),
                title: automation.title,
                notes: automation.notes,
                trigger: automation.trigger.type,
                agentId: automation.agentId.map(LumiStore.id),
                agentName: automation.agentId.flatMap { names[$0] },
                isEnabled: automation.isEnabled,
                lastRunAt: automation.lastRunAt,
                createdAt: automation.createdAt,
                updatedAt: automation.updatedAt
            )
        }
        guard !rows.isEmpty else {
            throw AppError.empty("No automation on \(pulled.host.name)")
        }
        let now = options.output.context.now()
        options.output.list(
            rows,
            columns: [
                TableColumn("TITLE", shrinks: true, rank: 0) { $0.title },
                TableColumn("TRIGGER") { $0.trigger },
                TableColumn("AGENT", shrinks: true, rank: 3) { $0.agentName ?? "–" },
                TableColumn("ENABLED", rank: 2) { $0.isEnabled ? "yes" : "no" },
                TableColumn("LAST RUN", rank: 4) { TimeText.ago($0.lastRunAt, now: now) },
                .id { $0.id },
            ],
            id: \.id
        )
    }
}
