import CommandCore
import CompanionWire
import Discovery
import FoundationEssentials

/// Finds the one host that is meant, on the network.
struct PairingTargetFinder: Sendable {
    let output: Output
    let client: CompanionDiscoveryClient
    let limit: Duration

    /// - Parameters:
    ///   - word: What the user called the host; nil where there should be one only.
    ///   - families: The kinds of host that will do.
    ///   - expiresAt: When the code that waits ends, for the countdown.
    func find(
        _ word: String?,
        among families: [HostFamily] = HostFamily.allCases,
        expiresAt: Date?
    ) async throws -> PairingTarget {
        let types = ServiceType.all.filter { $0.family.map(families.contains) ?? true }
        let found = try await survey(types, expiresAt: expiresAt) { survey in
            survey.isSettled && !survey.hosts.flatMap(PairingTarget.targets).filter { wanted($0, word) }.isEmpty
        }
        let all = found.hosts.flatMap(PairingTarget.targets)
        let targets = Self.preferred(all.filter { wanted($0, word) }, isNamed: word != nil)
        if let target = targets.first, targets.count == 1 { return target }
        guard targets.isEmpty else { return try await choose(among: targets) }
        if let host = found.hosts.first(where: { PairingTarget.targets(of: $0).isEmpty && isNamed($0, word) }) {
            throw noAddress(host)
        }
        throw nothingFound(word.map { "no host called “\($0)” was found" } ?? "no host was found", all)
    }

    /// Hosts of other families have to be named where one of CopilotForge's is in sight: a pairing is with those first.
    private static func preferred(_ targets: [PairingTarget], isNamed: Bool) -> [PairingTarget] {
        let usual = targets.filter { $0.family == .copilotforge }
        return isNamed || usual.isEmpty ? targets : usual
    }

    /// Finds the host that a QR code names by its id and its key.
    ///
    /// Whoever claims the id may be asked, for only the right one has the key: there is nothing to choose.
    func find(hostID: String, expiresAt: Date?) async throws -> PairingTarget {
        let found = try await survey([.companion, .companionShort], expiresAt: expiresAt) { survey in
            survey.hosts.contains { $0.advertisedID == hostID && !$0.endpoints.isEmpty }
        }
        let endpoints =
            found.hosts.first { $0.advertisedID == hostID }?.endpoints.filter(\.endpoint.address.isLocal) ?? []
        guard let host = found.hosts.first(where: { $0.advertisedID == hostID }), !endpoints.isEmpty else {
            let all = found.hosts.flatMap(PairingTarget.targets)
            throw nothingFound("the host that the QR code names (\(hostID.prefix(8))) was not found", all)
        }
        return PairingTarget(host, endpoints: endpoints, id: host.id)
    }

    private func survey(
        _ types: [ServiceType],
        expiresAt: Date?,
        until isEnough: @escaping @Sendable (DiscoverySurvey) -> Bool
    ) async throws -> DiscoverySurvey {
        try await Countdown(context: output.context, expiresAt: expiresAt).run("Looking for hosts") {
            try await DiscoverySurvey.run(client: client, types: types, limit: limit) { isEnough($0) }
        }
    }

    private func nothingFound(_ what: String, _ all: [PairingTarget]) -> CommandError {
        let seen =
            all.isEmpty ? "no host advertises itself" : "in sight are: \(all.map(\.name).joined(separator: ", "))"
        return CommandError(
            .nothingFound,
            "pairing.no_host",
            what == "no host was found" ? what : "\(what); \(seen)",
            next: "name it by address: pairtool pair --url http://ADDRESS:7878"
        )
    }

    private func isNamed(_ host: DiscoveredHost, _ word: String?) -> Bool {
        word.map { PairingTarget(host, endpoints: host.endpoints, id: host.id).matches($0) } ?? true
    }

    /// A host that is in sight, but leads nowhere that a code may go to.
    private func noAddress(_ host: DiscoveredHost) -> CommandError {
        let why =
            if host.flaws.contains(.portZero) {
                "its advert names port 0"
            } else if host.endpoints.isEmpty {
                "its address cannot be had"
            } else {
                "the address that its advert names is not on your network (\(host.endpoints[0].endpoint))"
            }
        return CommandError(
            .nothingFound,
            "pairing.no_address",
            "\(host.name) is in sight, but \(why); nothing was sent",
            next: "ask whoever runs it for its address: pairtool pair --url http://ADDRESS:7878"
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
