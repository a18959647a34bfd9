import CompanionWire
package import Identity
package import PairingAgent

/// Asks the user, once per host, whether to accept a host that proves nothing.
package struct LegacyConsent: Sendable {
    let interaction: any Interaction
    /// Whether the command line already gave consent.
    var isGiven: Bool
    /// The trust that the command line requires.
    var required: RequiredTrust?
    /// Whether fewer than all permissions were requested. These hosts have no permissions.
    var asksForLess: Bool

    package init(interaction: any Interaction, isGiven: Bool, required: RequiredTrust? = nil, asksForLess: Bool) {
        self.interaction = interaction
        self.isGiven = isGiven
        self.required = required
        self.asksForLess = asksForLess
    }

    /// - Parameter known: The records of paired hosts. The user is not asked again about a host that was accepted
    ///   before.
    /// - Throws: ``AppError`` with exit code 13 if the user or the command line refuses.
    func ask(about target: PairingTarget, known: PairedHosts) async throws {
        if let verified = target.verifiedRecord(in: known) {
            throw PairingError(
                .verifiedHost,
                "the host \(verified.name) was paired as a verified host, but \(target.name) offers only plain HTTP; it may not "
                    + "be the same host"
            )
        }
        let warning = warning(target)
        guard required != .verified else {
            let why =
                target.family.behavior.facts.canBeVerified
                ? "\(warning) --require verified refuses it"
                : "\(target.family.displayName) hosts cannot prove who they are, and --require verified refuses those that do not"
            throw AppError(.legacyRefused, "pairing.legacy_refused", why)
        }
        guard !asksForLess else {
            throw AppError(
                .legacyRefused,
                "pairing.legacy_refused",
                "\(target.name) has no permissions: a paired device can do everything there",
                next: "leave out --read-only and --permission"
            )
        }
        // The user is asked about its TLS key instead, which keeps others on the network from reading along.
        guard !target.family.behavior.facts.confirmsKey || target.secureEndpoints.isEmpty else { return }
        guard !Self.isAccepted(target, in: known) else { return }
        if isGiven { return interaction.say(warning) }
        guard interaction.canAsk else {
            throw AppError(.legacyRefused, "pairing.legacy_refused", warning, next: "accept it with --allow-legacy")
        }
        interaction.say(warning)
        guard try await interaction.confirm("Pair anyway?") else {
            throw AppError(.legacyRefused, "pairing.legacy_refused", "not paired; nothing was sent")
        }
    }

    /// Whether the user has accepted a host before. Consent was given for one address: an advertisement with the host's
    /// id at another one may be an impostor's.
    package static func isAccepted(_ target: PairingTarget, in known: PairedHosts) -> Bool {
        target.record(in: known).map { target.allEndpoints.contains($0.endpoint) } == true
    }

    private func warning(_ target: PairingTarget) -> String {
        let transport = target.family.behavior.facts.legacyTransport
        return "\(TerminalText.line(target.name)) uses \(transport) and proves nothing (trust: legacy). Anyone on this "
            + "network can read what you send, see the answers and use the host in your name."
    }
}

/// The trust that a command requires of a host.
package enum RequiredTrust: String, Sendable, CaseIterable {
    /// Verified hosts only.
    case verified

    /// - Throws: ``AppError`` with exit code 13 if the host's trust is lower.
    package func check(_ host: PairedHost) throws {
        guard host.trust != .verified else { return }
        throw AppError(
            .legacyRefused,
            "host.not_verified",
            "\(host.name) is a legacy host, and --require verified refuses those",
            next: "if the host supports protocol 2, pair again: pairtool pair"
        )
    }
}
