internal import CompanionClient
package import CompanionWire
package import FoundationEssentials
internal import Identity

/// Pairs with one CopilotForge host, from the code to the record.
package struct PairingJob: Sendable {
    let target: PairingTarget
    let device: PairingDevice
    let permissions: [CompanionPermission]

    /// - Parameter permissions: The permissions that the device requests besides reading.
    package init(target: PairingTarget, device: PairingDevice, permissions: [CompanionPermission]) {
        self.target = target
        self.device = device
        self.permissions = permissions
    }

    /// Pairs and stores the record.
    ///
    /// - Parameter readAt: When the code was read; nil if that is unknown.
    /// - Throws: ``PairingError``; `CompanionClientError` if no connection can be made; the errors of the stores.
    package func run(
        _ payload: PairingPayload,
        by route: PairingRoute,
        readAt: Date? = nil
    ) async throws -> PairingOutcome {
        switch route {
        case .legacy(let endpoint): try await pairLegacy(payload, at: endpoint)
        case .verified(let place, let certificate, let plainPort):
            try await pairVerified(
                payload,
                readAt: readAt,
                at: place,
                certificate: certificate,
                plainPort: plainPort
            )
        }
    }

    private func pairLegacy(_ payload: PairingPayload, at endpoint: CompanionEndpoint) async throws -> PairingOutcome {
        let pairing = LegacyPairing(identity: device.identity, deviceName: device.name, now: device.now)
        let outcome = try await CompanionAPIClient.withClient(endpoint: endpoint, logger: device.logger("client")) {
            try await pairing.pair(payload, over: $0)
        }
        let host = target.legacyRecord(at: endpoint, of: device)
        return try device.store(host, as: outcome.device.name, clockOffset: outcome.clockOffset) { hosts in
            guard target.verifiedRecord(in: hosts) == nil else {
                throw PairingError(
                    .verifiedHost,
                    "the host \(target.name) was meanwhile paired as a verified host; nothing was changed"
                )
            }
            return target.record(in: hosts)
        }
    }

    private func pairVerified(
        _ payload: PairingPayload,
        readAt: Date?,
        at place: HostPlace,
        certificate: PinnedCertificate,
        plainPort: Int?
    ) async throws -> PairingOutcome {
        let pairing = VerifiedPairing(
            identity: device.identity,
            deviceName: device.name,
            permissions: permissions,
            now: device.now
        )
        let outcome = try await place.withTarget(device.tunnels) { target in
            try await CompanionAPIClient.withClient(
                line: HostLine(target),
                security: .pinned(certificate),
                logger: device.logger("client")
            ) { try await pairing.pair(payload, readAt: readAt, over: $0) }
        }
        let now = device.now()
        let named = PairingTarget(payload: payload)?.secureEndpoints.first
        let endpoint: CompanionEndpoint
        var via: HostRoute?
        switch place {
        case .address(let address): endpoint = address
        case .route(let route):
            endpoint = named ?? route.farEndpoint
            via = route
        }
        var host = PairedHost(
            id: outcome.hostID,
            name: outcome.hostName,
            family: target.family,
            trust: .verified,
            endpoint: endpoint,
            deviceID: device.identity.deviceID,
            pairedAt: now,
            lastSeenAt: now,
            spki: certificate.spki,
            certificate: Base64.encode(certificate.der),
            hostPublicKey: outcome.hostPublicKey,
            permissions: outcome.permissions,
            plainPort: plainPort,
            namedEndpoint: named
        )
        if let via { (host.routes, host.via, host.isFar) = ([via], via, true) }
        let plain = target.endpoints.filter { $0.port == plainPort }
        try SessionTokenStore(directory: device.data).keep(outcome.session, hostID: host.id)
        var stored = try device.store(host, as: outcome.device.name, clockOffset: outcome.clockOffset) { hosts in
            // A verified host is found by id, because another host may have had its address. A legacy record at the
            // plain HTTP endpoint of the host is an older record of the same host.
            hosts.hosts.first { $0.id == host.id }
                ?? hosts.hosts.first { $0.trust == .legacy && plain.contains($0.endpoint) }
        }
        if outcome.permissions != permissions { stored.lessAllowed = outcome.permissions }
        return stored
    }
}

extension HostRoute {
    /// The endpoint of the host on its own machine.
    fileprivate var farEndpoint: CompanionEndpoint {
        let port =
            switch self {
            case .direct(let name): name.port ?? Self.defaultPort
            case .ssh(let route): route.hostPort
            case .relay: Self.defaultPort
            }
        return CompanionEndpoint(address: .loopback, port: port)
    }
}
