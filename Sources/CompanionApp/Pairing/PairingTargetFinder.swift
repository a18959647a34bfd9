package import CompanionWire
package import Discovery
package import FoundationEssentials
package import Identity
package import PairingAgent

/// Finds the selected host on the network.
package struct PairingTargetFinder: Sendable {
    let interaction: any Interaction
    let client: CompanionDiscoveryClient
    let limit: Duration
    /// The paired hosts.
    let known: PairedHosts

    package init(interaction: any Interaction, client: CompanionDiscoveryClient, limit: Duration, known: PairedHosts) {
        self.interaction = interaction
        self.client = client
        self.limit = limit
        self.known = known
    }

    /// - Parameters:
    ///   - word: The user's name for the host; nil if the user named none.
    ///   - families: The accepted families.
    ///   - expiresAt: When the waiting code expires, for the countdown.
    package func find(
        _ word: String?,
        among families: [HostFamily] = HostFamily.allCases,
        expiresAt: Date?
    ) async throws -> PairingTarget {
        let recorded = recorded(word, among: families)
        // A host that is never advertised can only be found by its record.
        if let word, let silent = recorded.first, recorded.count == 1, !silent.family.behavior.facts.isAdvertised,
            silent.matches(word)
        {
            return silent
        }
        let types = ServiceType.all.filter { $0.family.map(families.contains) ?? true }
        let found = try await browse(types, expiresAt: expiresAt) { snapshot in
            snapshot.isSettled && !wanted(snapshot.hosts.flatMap(PairingTarget.targets), word: word).isEmpty
        }
        let all = found.hosts.flatMap(PairingTarget.targets)
        let targets = Self.preferred(wanted(all, word: word), isNamed: word != nil)
        if let target = targets.first, targets.count == 1 {
            if let word, !target.matches(word) {
                let program = target.family.programName(speaksV2: !target.secureEndpoints.isEmpty)
                interaction.say(TerminalText.line("“\(word)” is \(target.name) (\(program))."))
            }
            return target
        }
        guard targets.isEmpty else { return try await choose(among: targets) }
        if let host = found.hosts.first(where: { PairingTarget.targets(of: $0).isEmpty && isNamed($0, word: word) }) {
            throw noAddress(host)
        }
        if let target = recorded.first {
            return recorded.count == 1 ? target : try await choose(among: recorded)
        }
        let what = word.map { "no host called “\($0)” was found" } ?? Self.nobody
        throw nothingFound(what, among: all, of: families.count == 1 ? families[0] : nil, word: word)
    }

    /// The paired hosts that the user's word means, of families whose hosts are contacted only where they were paired.
    private func recorded(_ word: String?, among families: [HostFamily]) -> [PairingTarget] {
        guard let word else { return [] }
        let others = known.hosts.filter { !$0.family.behavior.facts.isFollowed && families.contains($0.family) }
        return PairingTarget.named(word, in: others.map { PairingTarget($0) })
    }

    /// If a host of the usual family is in sight, hosts of other families have to be named.
    private static func preferred(_ targets: [PairingTarget], isNamed: Bool) -> [PairingTarget] {
        let usual = targets.filter(\.family.isUsual)
        return isNamed || usual.isEmpty ? targets : usual
    }

    /// Finds the host that a QR code names by its id and its key.
    ///
    /// Any host that claims the id may be contacted: only the right one has the key.
    package func find(hostID: String, expiresAt: Date?) async throws -> PairingTarget {
        let found = try await browse(ServiceType.all(ofHostsWith: .picture), expiresAt: expiresAt) { snapshot in
            snapshot.hosts.contains { $0.advertisedID == hostID && !$0.endpoints.isEmpty }
        }
        let endpoints =
            found.hosts.first { $0.advertisedID == hostID }?.endpoints.filter(\.endpoint.address.isLocal) ?? []
        guard let host = found.hosts.first(where: { $0.advertisedID == hostID }), !endpoints.isEmpty else {
            let all = found.hosts.flatMap(PairingTarget.targets)
            throw nothingFound("the host that the QR code names (\(hostID.shortID)) was not found", among: all)
        }
        return PairingTarget(host, endpoints: endpoints, id: host.id)
    }

    private func browse(
        _ types: [ServiceType],
        expiresAt: Date?,
        until isEnough: @escaping @Sendable (DiscoverySnapshot) -> Bool
    ) async throws -> DiscoverySnapshot {
        try await interaction.working(on: "Looking for hosts", until: expiresAt) {
            try await DiscoverySnapshot.run(client: client, types: types, limit: limit, until: isEnough)
        }
    }

    private static let nobody = "no host was found"

    /// - Parameters:
    ///   - family: The only accepted family; nil if there were several.
    ///   - word: The user's name for the host.
    private func nothingFound(
        _ what: String,
        among all: [PairingTarget],
        of family: HostFamily? = nil,
        word: String? = nil
    ) -> AppError {
        let meant = word.flatMap { NearestWord.of($0, in: all.map(\.name)) }.map { "did you mean “\($0)”?" }
        let seen =
            all.isEmpty
            ? "no host advertises itself" : "these hosts are in sight: \(all.map(\.name).joined(separator: ", "))"
        return AppError(
            .nothingFound,
            "pairing.no_host",
            word == nil && what == Self.nobody ? what : "\(what); \(meant ?? seen)",
            next: "give its address: "
                + (family ?? .usual).pairCommand(at: "http://ADDRESS:\((family ?? .usual).behavior.facts.usualPort)")
                + (family == nil ? " (other families: --family)" : "")
        )
    }

    private func isNamed(_ host: DiscoveredHost, word: String?) -> Bool {
        word.map { PairingTarget(host, endpoints: host.endpoints, id: host.id).matches($0) } ?? true
    }

    /// The error for a host that is in sight but has no address that a code may be sent to.
    private func noAddress(_ host: DiscoveredHost) -> AppError {
        let why =
            if host.flaws.contains(.portZero) {
                "it advertises port 0"
            } else if host.endpoints.isEmpty {
                "its address could not be resolved"
            } else {
                "it advertises an address that is not on your network (\(host.endpoints[0].endpoint))"
            }
        return AppError(
            .nothingFound,
            "pairing.no_address",
            "\(host.name) is in sight, but \(why); nothing was sent",
            next: "find out its address, then: "
                + host.family.pairCommand(at: "http://ADDRESS:\(host.family.behavior.facts.usualPort)")
        )
    }

    private func wanted(_ targets: [PairingTarget], word: String?) -> [PairingTarget] {
        word.map { PairingTarget.named($0, in: targets) } ?? targets
    }

    private func choose(among targets: [PairingTarget]) async throws -> PairingTarget {
        let question = "Several hosts are in sight. The code goes to only one of them:"
        if interaction.canAsk {
            guard let index = try await interaction.choose(question, from: targets.map(\.text))
            else {
                throw AppError(.usage, "pairing.no_choice", "no host was chosen; nothing was sent")
            }
            return targets[index]
        }
        var error = AppError(
            .usage,
            "pairing.ambiguous",
            "several hosts are in sight, and the code goes to only one of them:",
            next: "name one: pairtool pair \(targets[0].id.shortID)"
        )
        error.details = targets.map(\.text)
        throw error
    }
}
