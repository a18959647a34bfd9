import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import PairingAgent
import Terminal

struct HostStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show whether your host runs on this machine, where it listens, and whether a device can pair.",
        discussion: """
            Examples:
              pairtool host status
              pairtool host status --json
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let status = try await output.owner.status()
        let row = HostStatusRow(status)
        output.result(row, id: row.id) { output.fitted(row.facts(now: output.context.now())) }
    }
}

/// The running host, in JSON.
struct HostStatusRow: Encodable {
    struct Pairing: Encodable {
        var locked: Bool
        /// Wrong codes in a row, over all challenges.
        var failuresInARow: Int
        /// When the current code expires.
        var expiresAt: Date?
        /// When the next code may be created; the host delays it after several codes were used up by wrong entries.
        var nextCodeAt: Date?
        var triesLeft: Int?
    }

    var id: String
    var name: String
    var port: Int?
    var tlsPort: Int?
    var legacy: Bool
    var lan: Bool
    var devices: Int
    /// The ids of the models that answer; the first is the default.
    var models: [String]
    /// Why the agent did not do its work last.
    var agentTrouble: String?
    /// All agents, the default one first.
    var agents: [AdminAgent]
    var pairing: Pairing
    /// The receivers of a note that an agent waits.
    var notifications: [AdminNotification]
    /// The relays that the host joins.
    var relays: [AdminRelay]
    private var answers: String

    private enum CodingKeys: CodingKey {
        case id, name, port, tlsPort, legacy, lan, devices, models, agentTrouble, agents, pairing, notifications,
            relays
    }

    init(_ status: AdminStatus) {
        id = status.id
        name = status.name
        port = status.port
        tlsPort = status.tlsPort
        legacy = status.legacy
        lan = status.lan
        devices = status.devices
        models = status.models?.map(\.id) ?? []
        agentTrouble = status.agents.lazy.compactMap(\.trouble).first?.message
        agents = status.agents
        notifications = status.notifications ?? []
        relays = status.relays ?? []
        answers = status.models?.map(\.name).joined(separator: ", ") ?? "–"
        pairing = Pairing(
            locked: status.pairingLocked,
            failuresInARow: status.failuresInARow,
            expiresAt: status.challengeExpiresAt,
            nextCodeAt: status.nextChallengeAt,
            triesLeft: status.challengeExpiresAt == nil ? nil : status.triesLeft
        )
    }

    func facts(now: Date) -> FactList {
        let ports = [tlsPort.map { "HTTPS \($0)" }, port.map { "HTTP \($0)\(legacy ? ", version 1 too" : "")" }]
        let place = lan ? "on the network" : "on this machine only"
        var facts: FactList = [
            "host": "\(name) (\(id))",
            "listens": ports.compactMap(\.self).joined(separator: ", ") + " " + place,
            "devices": "\(devices)",
            "answers": answers,
            "trouble": agents.count > 1 ? nil : agentTrouble,
            "agent": agents.count > 1 ? nil : agents.first?.sandbox?.text,
            "pairing": pairingText(now: now),
        ]
        if agents.count > 1 {
            for agent in agents {
                let state = agent.trouble?.message ?? (agent.isAvailable ? "ready" : "its program is missing")
                facts.add("agent", "\(agent.id): \(state)" + (agent.sandbox.map { " (\($0.text))" } ?? ""))
            }
        }
        for relay in relays {
            let since = relay.since.map { " since \(LocalTime.text($0))" } ?? ""
            let state = relay.state == .failed ? relay.failure ?? "not reached" : relay.state.rawValue + since
            facts.add("relay", "\(relay.address.authority): \(state)")
        }
        for place in notifications {
            facts.add("notifies", place.target + (place.failure.map { " (failed: \($0))" } ?? ""))
        }
        return facts
    }

    private func pairingText(now: Date) -> String {
        if pairing.locked {
            return "six digits locked after \(pairing.failuresInARow) wrong codes, QR codes work: "
                + "pairtool host unlock"
        }
        guard let end = pairing.expiresAt else {
            let next = pairing.nextCodeAt.map { TimeText.countdown($0.timeIntervalSince(now)) }
            return next.map { "after wrong codes, the next code appears in \($0); to get one now: pairtool host pair" }
                ?? "no code now: pairtool host pair"
        }
        let left = TimeText.countdown(end.timeIntervalSince(now))
        return
            "a code is valid for \(left) (\(pairing.triesLeft == 1 ? "1 try" : "\(pairing.triesLeft ?? 0) tries") left)"
    }
}
