import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import Logging
import PairingAgent

/// Pairs with one host, from the code to the record.
struct PairingJob: Sendable {
    let target: PairingTarget
    let identity: DeviceIdentity
    let deviceName: String
    let permissions: [CompanionPermission]
    let output: Output

    private var context: CommandContext { output.context }

    /// This device's keys; they are created if there are none.
    static func identity(output: Output) throws -> DeviceIdentity {
        let data = output.context.paths.data
        if try !PairedHostStore(directory: data).load().hosts.isEmpty, FileStatus(data + "/identity.key") == nil {
            output.say(
                "This device's key is missing. pairtool makes a new one, and you have to pair with each host again."
            )
        }
        return try SecureKeyStore(directory: data).identity()
    }

    /// Pairs and stores the record. Shows only a countdown.
    func run(_ payload: PairingPayload, _ route: PairingRoute) async throws -> PairingRecord.Outcome {
        switch route {
        case .legacy(let endpoint): try await pairLegacy(payload, at: endpoint)
        case .verified(let endpoint, let certificate, let plainPort):
            try await pairVerified(payload, at: endpoint, certificate, plainPort: plainPort)
        }
    }

    private func pairLegacy(_ payload: PairingPayload, at endpoint: CompanionEndpoint) async throws
        -> PairingRecord.Outcome
    {
        let outcome = try await Countdown(context: context, expiresAt: payload.expiresAt).run("Pairing") {
            try await CompanionAPIClient.withClient(endpoint: endpoint, logger: logger) { client in
                try await LegacyPairing(identity: identity, deviceName: deviceName, now: context.now)
                    .pair(payload, over: client)
            }
        }
        let host = target.legacyRecord(at: endpoint, deviceID: identity.deviceID, now: context.now())
        return try record.store(host, as: outcome.device.name, clockOffset: outcome.clockOffset) { hosts in
            guard target.verifiedRecord(in: hosts) == nil else {
                throw PairingError(
                    .verifiedHost,
                    "\(target.name) was meanwhile paired as a verified host; nothing was changed"
                )
            }
            return target.record(in: hosts)
        }
    }

    private func pairVerified(
        _ payload: PairingPayload,
        at endpoint: CompanionEndpoint,
        _ certificate: PinnedCertificate,
        plainPort: Int?
    ) async throws -> PairingRecord.Outcome {
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
                try await pairing.pair(payload, over: client)
            }
        }
        let now = context.now()
        let host = PairedHost(
            id: outcome.hostID,
            name: outcome.hostName,
            family: .usual,
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
        var stored = try record.store(host, as: outcome.device.name, clockOffset: outcome.clockOffset) { hosts in
            // A verified host is found by id, because another host may have had its address. A legacy record at the
            // plain HTTP endpoint of the host is an older record of the same host.
            hosts.hosts.first { $0.id == host.id }
                ?? hosts.hosts.first { $0.trust == .legacy && plain.contains($0.endpoint) }
        }
        if outcome.permissions != permissions { stored.lessAllowed = outcome.permissions }
        return stored
    }

    /// Shows a pairing as the command's result, with the next step.
    func show(_ outcome: PairingRecord.Outcome) {
        record.show(outcome)
    }

    private var record: PairingRecord { PairingRecord(output: output) }
    private var logger: Logger { LoggingSetup.logger("client", context: context) }
}
