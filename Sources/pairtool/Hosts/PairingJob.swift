import CompanionClient
import CompanionWire
import FoundationEssentials
import Logging
import PairingAgent

/// A pairing with one host, from the code to the record.
struct PairingJob: Sendable {
    let target: PairingTarget
    let identity: DeviceIdentity
    let deviceName: String
    let permissions: [CompanionPermission]
    let output: Output

    private var context: CommandContext { output.context }

    func run(_ payload: PairingPayload, _ route: PairingRoute) async throws {
        switch route {
        case .legacy(let endpoint): try await pairLegacy(payload, at: endpoint)
        case .verified(let endpoint, let certificate, let plainPort):
            try await pairVerified(payload, at: endpoint, certificate, plainPort: plainPort)
        }
    }

    private func pairLegacy(_ payload: PairingPayload, at endpoint: CompanionEndpoint) async throws {
        let outcome = try await Countdown(context: context, expiresAt: payload.expiresAt).run("Pairing") {
            try await CompanionAPIClient.withClient(endpoint: endpoint, logger: logger) { client in
                try await PairingAgent(identity: identity, now: context.now)
                    .pair(payload, deviceName: deviceName, over: ClientPairingTransport(client: client))
            }
        }
        let now = context.now()
        let host = PairedHost(
            id: target.id,
            name: target.name,
            family: .copilotforge,
            trust: .legacy,
            endpoint: endpoint,
            deviceID: identity.deviceID,
            pairedAt: now,
            lastSeenAt: now
        )
        try record(host, as: outcome.device, clockOffset: outcome.clockOffset) { hosts in
            guard target.verifiedRecord(in: hosts) == nil else {
                throw PairingError(.verifiedHost, "\(target.name) was paired with proof meanwhile; nothing was changed")
            }
            return target.record(in: hosts)
        }
    }

    private func pairVerified(
        _ payload: PairingPayload,
        at endpoint: CompanionEndpoint,
        _ certificate: PinnedCertificate,
        plainPort: Int?
    ) async throws {
        let pairing = VerifiedPairing(
            identity: identity,
            deviceName: deviceName,
            permissions: permissions,
            now: context.now
        )
        let outcome = try await Countdown(context: context, expiresAt: payload.expiresAt).run("Pairing") {
            try await CompanionAPIClient.withClient(
                endpoint: endpoint,
                security: .pinned(certificate),
                logger: logger
            ) { client in
                try await pairing.pair(payload, over: ClientVerifiedTransport(client: client, spki: certificate.spki))
            }
        }
        let now = context.now()
        let host = PairedHost(
            id: outcome.hostID,
            name: outcome.hostName,
            family: .copilotforge,
            trust: .verified,
            endpoint: endpoint,
            deviceID: identity.deviceID,
            pairedAt: now,
            lastSeenAt: now,
            spki: certificate.spki,
            certificate: Base64.encode(certificate.der),
            hostPublicKey: outcome.hostPublicKey,
            permissions: outcome.permissions,
            plainPort: plainPort,
            namedEndpoint: PairingTarget(payload: payload)?.secureEndpoints.first
        )
        let plain = target.endpoints.filter { $0.port == plainPort }
        try SessionTokenStore(directory: context.paths.data).keep(outcome.session, hostID: host.id)
        try record(host, as: outcome.device, clockOffset: outcome.clockOffset) { hosts in
            // An address says nothing about a host that has proven who it is, but a legacy record of it is the same host's.
            hosts.hosts.first { $0.id == host.id }
                ?? hosts.hosts.first { $0.trust == .legacy && plain.contains($0.endpoint) }
        }
        if outcome.permissions != permissions {
            let allowed = outcome.permissions.map(\.rawValue).joined(separator: ", ")
            output.say("The host allows less than was asked for: \(allowed.isEmpty ? "reading only" : allowed).")
        }
    }

    private var logger: Logger { LoggingSetup.logger("client", context: context) }
}

// MARK: What is kept and shown

extension PairingJob {
    /// - Parameter earlier: The record that the new one takes the place of.
    private func record(
        _ new: PairedHost,
        as device: ConnectedCompanionDevice,
        clockOffset: Duration?,
        replacing earlier: (PairedHosts) throws -> PairedHost?
    ) throws {
        let (host, usual) = try PairedHostStore(directory: context.paths.data).update { hosts in
            var host = new
            if let earlier = try earlier(hosts) {
                host.name = earlier.name
                if host.trust == .legacy { host.id = earlier.id }
                if host.id != earlier.id {
                    let wasDefault = hosts.defaultID == earlier.id
                    hosts.forget(earlier.id)
                    if wasDefault { hosts.defaultID = host.id }
                }
            }
            if hosts.hosts.contains(where: { $0.id != host.id && $0.name == host.name }) {
                host.name += " \(host.id.prefix(4))"
            }
            hosts.record(host)
            return (host, hosts.defaultHost)
        }
        let isDefault = usual?.id == host.id
        output.result(PairedHostRow(host, isDefault: isDefault), id: host.id) {
            TerminalText.line(
                "Paired with \(host.name) at \(host.endpoint) as “\(device.name)” (trust: \(host.trust.rawValue))."
            )
        }
        if let offset = clockOffset, abs(offset.components.seconds) > 30 {
            let seconds = Int(offset.components.seconds)
            output.say(
                "Its clock is \(TimeText.span(Double(seconds))) \(seconds > 0 ? "ahead of" : "behind") this machine's."
            )
        }
        guard !isDefault else { return output.say("Next: pairtool projects") }
        if let usual {
            output.say("Commands still go to \(TerminalText.line(usual.name)) (pairtool hosts default changes it).")
        }
        output.say("Next: pairtool projects --host \(host.id.prefix(8))")
    }
}
