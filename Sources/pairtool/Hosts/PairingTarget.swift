import CompanionWire
import Discovery
import FoundationEssentials
import PairingAgent

/// The one host that a code shall be sent to.
struct PairingTarget: Sendable {
    var id: String
    var name: String
    var endpoints: [CompanionEndpoint]

    /// A host that the user named by its address.
    init(endpoint: CompanionEndpoint) {
        id = PairedHost.id(for: endpoint)
        name = "\(endpoint)"
        endpoints = [endpoint]
    }

    private init(_ host: DiscoveredHost, endpoints: [DiscoveredEndpoint], id: String) {
        self.id = id
        name = host.name
        var seen: Set<CompanionEndpoint> = []
        // `_cf-companion._tcp` points to the TLS port of hosts that also speak plain HTTP elsewhere.
        let plain = endpoints.filter { $0.type == .companion }
        self.endpoints = (plain.isEmpty ? endpoints : plain).map(\.endpoint).filter { seen.insert($0).inserted }
    }

    /// The targets behind an advert. An id that several machines claim is one target for each machine: only the user can
    /// tell which is meant.
    static func targets(of host: DiscoveredHost) -> [PairingTarget] {
        guard host.isClaimedBySeveralMachines else {
            return host.endpoints.isEmpty ? [] : [PairingTarget(host, endpoints: host.endpoints, id: host.id)]
        }
        return Dictionary(grouping: host.endpoints, by: { $0.hostName.lowercased() })
            .sorted { $0.key < $1.key }
            .map { machine, endpoints in
                PairingTarget(host, endpoints: endpoints, id: DeviceIdentity.shortHash("\(host.id) \(machine)"))
            }
    }

    /// How the target stands in a list.
    var text: String {
        "\(name)  \(endpoints.map(\.description).joined(separator: " "))  (\(id.prefix(8)))"
    }

    /// The record of an earlier pairing: by id, or by address where the host was named in another way then.
    func record(in hosts: PairedHosts) -> PairedHost? {
        hosts.hosts.first { $0.id == id } ?? hosts.hosts.first { endpoints.contains($0.endpoint) }
    }

    /// Whether a word on the command line means this target: its name, or a prefix of its id.
    func matches(_ word: String) -> Bool {
        let word = word.lowercased()
        return name.lowercased() == word || (word.count >= 4 && id.hasPrefix(word))
            || endpoints.contains { "\($0.address)" == word || "\($0)" == word }
    }
}

/// Finds the one host that is meant, on the network.
struct PairingTargetFinder: Sendable {
    let output: Output
    let client: CompanionDiscoveryClient
    let limit: Duration

    /// - Parameters:
    ///   - word: What the user called the host; nil where there should be one only.
    ///   - expiresAt: When the code that waits ends, for the countdown.
    func find(_ word: String?, expiresAt: Date?) async throws -> PairingTarget {
        let found = try await Countdown(context: output.context, expiresAt: expiresAt).run("Looking for hosts") {
            try await DiscoverySurvey.run(client: client, types: [.companion, .companionShort], limit: limit) {
                survey in
                survey.isSettled && !survey.hosts.flatMap(PairingTarget.targets).filter { wanted($0, word) }.isEmpty
            }
        }
        let all = found.hosts.flatMap(PairingTarget.targets)
        let targets = all.filter { wanted($0, word) }
        if let target = targets.first, targets.count == 1 { return target }
        guard targets.isEmpty else { return try await choose(among: targets) }
        let seen =
            all.isEmpty ? "no host advertises itself" : "in sight are: \(all.map(\.name).joined(separator: ", "))"
        throw CommandError(
            .nothingFound,
            "pairing.no_host",
            word.map { "no host called “\($0)” was found; \(seen)" } ?? "no host was found",
            next: "name it by address: pairtool pair --url http://ADDRESS:7878"
        )
    }

    private func wanted(_ target: PairingTarget, _ word: String?) -> Bool {
        word.map(target.matches) ?? true
    }

    private func choose(among targets: [PairingTarget]) async throws -> PairingTarget {
        let question = "Several hosts are in sight. The code goes to one only:"
        if output.context.canAsk {
            guard let index = try await Question(context: output.context).choose(question, from: targets.map(\.text))
            else {
                throw CommandError(.usage, "pairing.no_choice", "no host was chosen; nothing was sent")
            }
            return targets[index]
        }
        var error = CommandError(
            .usage,
            "pairing.ambiguous",
            "several hosts are in sight, and the code goes to one only:",
            next: "name one: pairtool pair \(targets[0].id.prefix(8))"
        )
        error.details = targets.map(\.text)
        throw error
    }
}
