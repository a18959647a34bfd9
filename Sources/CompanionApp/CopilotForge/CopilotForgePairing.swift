import CompanionWire
import FoundationEssentials
import PairingAgent

/// Pairs with a CopilotForge host, by protocol v2 or, if the user consents, v1.
struct CopilotForgePairing: Sendable {
    private let pairing: FamilyPairing

    init(_ pairing: FamilyPairing) {
        self.pairing = pairing
    }

    func run() async throws -> PairingOutcome {
        try pairing.requireNoPin()
        try pairing.requireNoToken()
        let (payload, interaction, now) = (pairing.payload, pairing.environment.interaction, pairing.environment.now)
        guard payload != nil || interaction.canAsk else { throw AppError.noPairingCode }
        let (target, route) = try await findRoute()
        if case .legacy = route { try await pairing.consent.ask(about: target, known: pairing.known) }
        let job = PairingJob(target: target, device: pairing.device, permissions: pairing.permissions)
        // Users mistype: allow three tries, as many as a careful host does.
        var unused = payload
        var attempt = 0
        while true {
            attempt += 1
            let current: PairingPayload
            let readAt: Date
            if let unused {
                (current, readAt) = (unused, pairing.codeReadAt)
            } else {
                let asked = now()
                let code = try await interaction.pairingCode(of: target.name)
                current = PairingPayload(code: code, token: nil, expiresAt: nil)
                readAt = TypedCode.readAt(asked: asked, typed: now())
            }
            unused = nil
            do {
                return try await interaction.working(on: "Pairing", until: current.expiresAt) {
                    try await job.run(current, by: route, readAt: readAt)
                }
            } catch let error as PairingError
                where [.wrongCode, .expired].contains(error.code) && payload == nil && interaction.canAsk && attempt < 3
            {
                interaction.say("\(TerminalText.line(error.message)). Try again.")
            }
        }
    }

    /// Finds the right target and the protocol to pair by.
    private func findRoute() async throws -> (PairingTarget, PairingRoute) {
        do throws(PairingError) {
            return (pairing.target, try await router(to: pairing.target).route())
        } catch {
            // If the address in the code fails, it may be on another network: the host's advertisement may have a
            // better one.
            guard let findElsewhere = pairing.findElsewhere else { throw error }
            let found: PairingTarget
            do { found = try await findElsewhere() } catch let other {
                if other is CancellationError { throw other }
                throw error
            }
            return (found, try await router(to: found).route())
        }
    }

    private func router(to target: PairingTarget) -> PairingRouter {
        PairingRouter(target: target, payload: pairing.payload, tunnels: pairing.device.tunnels)
    }
}
