package import CompanionClient
package import CompanionWire
package import FoundationEssentials
package import Identity

/// Pairs this device with one host by protocol v2: each side proves to the other that it knows the code or token and
/// sees the same TLS key. Neither code nor token is ever sent.
package struct VerifiedPairing: Sendable {
    private let identity: DeviceIdentity
    private let deviceName: String
    private let permissions: [CompanionPermission]
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - deviceName: The name for this device in the host's list.
    ///   - permissions: The permissions that the device requests besides reading.
    ///   - now: This machine's clock.
    package init(
        identity: DeviceIdentity,
        deviceName: String,
        permissions: [CompanionPermission],
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.identity = identity
        self.deviceName = deviceName
        self.permissions = permissions
        self.now = now
    }

    /// The result of a pairing. The host has proven all of it.
    package struct Outcome: Sendable, Hashable {
        /// 16 hex digits, derived from the host's public key.
        package var hostID: String
        package var hostName: String
        /// Ed25519, in standard base64.
        package var hostPublicKey: String
        /// The pin of the host's TLS key: SHA-256 over the SubjectPublicKeyInfo, in base64url.
        package var spki: String
        /// This device as the host lists it.
        package var device: ConnectedCompanionDevice
        /// The granted permissions: the requested ones, or fewer.
        package var permissions: [CompanionPermission]
        /// The session that the host opened for this device.
        package var session: SessionGrant
        /// The host's clock minus this machine's.
        package var clockOffset: Duration
    }

    /// Pairs with the host of a client whose connection is pinned. The pin of its TLS key is part of what both sides
    /// prove.
    ///
    /// - Parameters:
    ///   - payload: The code, with token, pin and host id if it came from a QR code.
    ///   - readAt: When the code was read, by this machine's clock. Digits are not tried if the host has changed them
    ///     since. Default: nil, unknown.
    /// - Throws: ``PairingError``. The caller must not store anything then.
    package func pair(
        _ payload: PairingPayload,
        readAt: Date? = nil,
        over client: CompanionAPIClient
    ) async throws(PairingError) -> Outcome {
        guard let spki = client.security.certificate?.spki else {
            throw PairingError(.otherKey, "the connection has no TLS key to prove")
        }
        if let expected = payload.spki, expected != spki {
            throw PairingError(
                .otherKey,
                "the TLS key is not the one that the QR code names: expected \(expected), shown \(spki)"
            )
        }
        let clientNonce = SecureRandom.bytes(16)
        let asked = now()
        let hello = try await Self.step {
            try await client.pairingHello(PairingHelloRequest(clientNonce: Base64URL.encode(clientNonce)))
        }
        let clockOffset = Duration.seconds(hello.serverTime.timeIntervalSince(now()))
        let hostID = try check(hello, against: payload)
        let shown = hello.startedAt.map { hello.serverTime.timeIntervalSince($0) }
        // The host told its time after `asked`, so its code began no earlier than that, by this machine's clock.
        if payload.token == nil, let shown, let readAt, readAt < asked - shown { throw .changedCode(since: shown) }
        let context = try context(hello, clientNonce: clientNonce, hostID: hostID, spki: spki)
        let secret = Self.secret(payload)
        let tags = try await exchange(hello.pairingId, secret: secret, context: context, over: client)
        let request = PairingConfirmRequest(pairingId: hello.pairingId, tag: Base64.encode(tags.own))
        let answer: PairingConfirmResponse
        do throws(PairingError) {
            answer = try await Self.step { try await client.pairingConfirm(request) }
        } catch {
            throw error.explained(codeShownFor: shown)
        }
        // The tag proves everything that the host has sent so far. Without it, nothing counts.
        guard let tag = Base64.decode(answer.tag), tags.verifies(tag) else {
            throw PairingError(
                .unproven,
                "the host did not prove that it knows the code. Someone may be intercepting the connection; nothing was stored"
            )
        }
        guard answer.connectedDevice.id == identity.deviceID else {
            throw PairingError(.foreignDevice, "the host answered with another device (\(answer.connectedDevice.id))")
        }
        return Outcome(
            hostID: hostID,
            hostName: hello.hostName,
            hostPublicKey: hello.hostPublicKey,
            spki: spki,
            device: answer.connectedDevice,
            permissions: answer.permissions,
            session: answer.session,
            clockOffset: clockOffset
        )
    }

    /// - Returns: The host's id.
    private func check(_ hello: PairingHelloResponse, against payload: PairingPayload) throws(PairingError) -> String {
        guard let host = DeviceIdentity(publicKeyText: hello.hostPublicKey) else {
            throw PairingError(.rejected, "the host's public key cannot be read")
        }
        if let expected = payload.host, expected != host.deviceID {
            throw PairingError(
                .foreignHost,
                "this host (\(host.deviceID)) is not the one that the QR code names (\(expected))"
            )
        }
        if let expired = payload.endError(hostTime: hello.serverTime) { throw expired }
        return host.deviceID
    }

    private func context(
        _ hello: PairingHelloResponse,
        clientNonce: [UInt8],
        hostID: String,
        spki: String
    ) throws(PairingError) -> PairingContext {
        guard let hostNonce = Base64URL.decode(hello.hostNonce), let pin = Base64URL.decode(spki) else {
            throw PairingError(.rejected, "the host's nonce cannot be read")
        }
        return PairingContext(
            clientNonce: clientNonce,
            hostNonce: hostNonce,
            spki: pin,
            hostID: hostID,
            hostPublicKey: hello.hostPublicKey,
            hostName: hello.hostName,
            devicePublicKey: identity.publicKeyText,
            deviceName: deviceName,
            permissions: permissions
        )
    }

    /// The token if there is one, because it cannot be guessed; else the code. The methods that the host lists are
    /// ignored: nothing is proven yet, and an attacker in between would list only the code.
    private static func secret(_ payload: PairingPayload) -> PairingSecret {
        payload.token.map { .token($0) } ?? .code(payload.code)
    }

    private func exchange(
        _ pairingID: String,
        secret: PairingSecret,
        context: PairingContext,
        over client: CompanionAPIClient
    ) async throws(PairingError) -> PairingTags {
        let initiator: PairingInitiator
        do throws(PairingExchangeError) {
            initiator = try PairingInitiator(secret: secret, context: context)
        } catch {
            throw Self.unusable(error)
        }
        let request = PairingShareRequest(
            pairingId: pairingID,
            method: initiator.method,
            share: Base64.encode(initiator.share),
            deviceName: deviceName,
            devicePublicKey: identity.publicKeyText,
            permissions: permissions
        )
        let answer = try await Self.step { try await client.pairingShare(request) }
        do throws(PairingExchangeError) {
            guard let share = Base64.decode(answer.share) else {
                throw PairingExchangeError(.badShare, message: "the host's share cannot be read")
            }
            return try initiator.receive(hostShare: share)
        } catch {
            throw Self.unusable(error)
        }
    }

    private static func unusable(_ error: PairingExchangeError) -> PairingError {
        PairingError(.rejected, "the proof cannot continue: \(error.message)")
    }

    private static func step<Answer>(_ request: () async throws -> Answer) async throws(PairingError) -> Answer {
        do {
            return try await request()
        } catch {
            throw PairingError(error)
        }
    }
}
