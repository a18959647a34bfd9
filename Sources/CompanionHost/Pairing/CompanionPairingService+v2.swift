import CompanionWire
import FoundationEssentials
import Identity
import Logging

/// The three steps of a pairing by CPace (companion-v2, Pairing).
extension CompanionPairingService {
    /// Counts an exchange that an address asks for, before anything else is done for it.
    ///
    /// - Throws: ``HostError``: `pairing.rate_limited`.
    func admit(_ address: String) throws {
        guard limiter.take(address, now: clock.now()) else { throw Self.tooOftenError }
    }

    /// Begins an exchange that was admitted (``admit(_:)``).
    ///
    /// - Throws: ``HostError``: `pairing.not_active`, `pairing.rate_limited`.
    func hello(_ request: PairingHelloRequest, address: String) throws -> PairingHelloResponse {
        let now = clock.now()
        guard let clientNonce = Base64URL.decode(request.clientNonce), clientNonce.count == 16 else {
            throw HostError(.requestInvalid, "clientNonce has to be 16 bytes in base64url")
        }
        renew()
        guard let offer = challenge.offer else { throw noChallenge(now: now) }
        let exchange = PairingExchanges<PairingResponder>.Exchange(
            id: Base64URL.encode(SecureRandom.bytes(16)),
            challenge: challenge.number,
            address: address,
            clientNonce: clientNonce,
            hostNonce: SecureRandom.bytes(16),
            startedAt: now,
            deadline: offer.expiresAt
        )
        guard exchanges.add(exchange) else { throw Self.tooOftenError }
        return PairingHelloResponse(
            pairingId: exchange.id,
            hostNonce: Base64URL.encode(exchange.hostNonce),
            hostPublicKey: identity.publicKey,
            hostName: identity.name,
            methods: budget.isLocked ? [.token] : [.code, .token],
            // Before the first one, there was no code that a device could have read.
            startedAt: challenge.number > 1 ? offer.startedAt : nil,
            expiresAt: offer.expiresAt,
            serverTime: now
        )
    }

    /// Exchanges the shares. From now on an exchange for the digits holds one of the guesses that are left.
    ///
    /// - Throws: ``HostError``: as ``hello(_:address:)``, `pairing.locked` for the digits, `pairing.expired`,
    ///   `pairing.bad_share`, `request.invalid`.
    func share(_ request: PairingShareRequest) throws -> PairingShareResponse {
        let now = clock.now()
        let (exchange, offer) = try running(request.pairingId, now: now)
        guard exchange.share == nil else {
            exchanges.remove(exchange.id)
            throw Self.notActiveError
        }
        try Self.check(request)
        if request.method == .token {
            guard tokenLimiter.left(exchange.address, now: now) > 0 else { throw Self.tooOftenError }
        } else {
            guard !budget.isLocked else {
                throw HostError(
                    .pairingLocked,
                    "Pairing is locked after too many wrong codes. At the host: pairtool host unlock"
                )
            }
            guard exchanges.reserve(exchange, guesses: min(challenge.triesLeft, budget.left), now: now) else {
                throw Self.tooOftenError
            }
        }
        let responder: PairingResponder
        do {
            responder = try self.responder(request, exchange: exchange, offer: offer)
        } catch {
            exchanges.remove(exchange.id)
            throw error
        }
        let known = PairingExchanges<PairingResponder>.Share(
            method: request.method,
            deviceName: request.deviceName,
            devicePublicKey: request.devicePublicKey,
            permissions: request.permissions,
            secret: responder
        )
        exchanges.setShare(known, of: exchange.id, now: now)
        return PairingShareResponse(share: Base64.encode(responder.share))
    }

    private func responder(
        _ request: PairingShareRequest,
        exchange: PairingExchanges<PairingResponder>.Exchange,
        offer: PairingChallenge.Offer
    ) throws -> PairingResponder {
        guard let share = Base64.decode(request.share) else { throw Self.badShareError }
        let context = PairingContext(
            clientNonce: exchange.clientNonce,
            hostNonce: exchange.hostNonce,
            spki: identity.spki,
            hostID: identity.id,
            hostPublicKey: identity.publicKey,
            hostName: identity.name,
            devicePublicKey: request.devicePublicKey,
            deviceName: request.deviceName,
            permissions: request.permissions
        )
        do {
            return try PairingResponder(
                secret: request.method == .token ? .token(offer.token) : .code(offer.code),
                context: context,
                deviceShare: share
            )
        } catch {
            switch error.code {
            case .badShare: throw Self.badShareError
            case .badContext: throw HostError(.requestInvalid, error.message)
            default: throw error
            }
        }
    }

    /// Judges the device's proof and, when it is right, enrolls the device and proves the host's own knowledge.
    ///
    /// - Throws: ``HostError``: as ``share(_:)``, `pairing.wrong_code` and `pairing.wrong_token` with the
    ///   tries left, `host.storage_failed`.
    ///
    /// - Parameter relayID: What the device has shown to the relay by which it came, if it came by one.
    func confirm(
        _ request: PairingConfirmRequest,
        address: String,
        relayID: RelayID? = nil
    ) async throws -> PairingConfirmResponse {
        try await guesses.run("") { @Sendable in
            try await self.judged(request, address: address, relayID: relayID)
        }
    }

    private func judged(
        _ request: PairingConfirmRequest,
        address: String,
        relayID: RelayID?
    ) async throws -> PairingConfirmResponse {
        let start = ContinuousClock.now
        let now = clock.now()
        let (exchange, _) = try running(request.pairingId, now: now)
        guard let share = exchange.share else {
            exchanges.remove(exchange.id)
            throw Self.notActiveError
        }
        // It keeps its guess while that is counted.
        defer { exchanges.remove(exchange.id) }
        if share.method == .code { try await storeGuess() }
        // Meanwhile it may have given way to others, or its challenge to another one.
        guard exchanges.exchange(exchange.id) != nil, challenge.number == exchange.challenge, challenge.offer != nil
        else {
            if share.method == .code { await storeNoGuess() }
            throw Self.notActiveError
        }
        // Whatever comes of it, an exchange is judged once.
        exchanges.remove(exchange.id)
        guard let tag = Base64.decode(request.tag), let ownTag = share.secret.confirm(deviceTag: tag) else {
            throw try await wrong(share.method, address: address, start: start)
        }
        let grant = grant
        let name = share.deviceName.trimmingWhitespace()
        let id = DeviceIdentity.deviceID(publicKeyText: share.devicePublicKey)
        let earlier = devices.device(id: id)
        let device = PairedDevice(
            id: id,
            name: name.isEmpty ? PairedDevice.nameless : name,
            publicKey: share.devicePublicKey,
            permissions: grant.granted(of: share.permissions),
            expiresAt: grant.end(from: now),
            protocolVersion: 2,
            pairedAt: now,
            lastSeenAt: now,
            relayID: relayID ?? earlier?.relayID,
            rungs: earlier?.rungs,
            isHere: earlier?.isHere ?? false
        )
        let session = SessionStore.Session(device: device.id, now: now)
        try await succeed(challenge: exchange.challenge) {
            try await enroll(device, session: session, method: share.method, address: address)
        }
        // What the device had before this pairing ends with it.
        revocations.end(device.id)
        events.send(.paired(device.companionDevice, address: address))
        logPaired(device.id, since: start, address: address, method: share.method)
        return PairingConfirmResponse(
            tag: Base64.encode(ownTag),
            connectedDevice: ConnectedCompanionDevice(
                id: device.id,
                name: device.name,
                connectedAt: now,
                lastSeenAt: now
            ),
            permissions: device.permissions ?? [],
            session: session.grant
        )
    }

    /// Notes a wrong proof. A wrong token costs its address alone: the challenge and its digits stay as they are.
    ///
    /// - Returns: The answer.
    private func wrong(
        _ method: PairingMethod,
        address: String,
        start: ContinuousClock.Instant
    ) async throws -> HostError {
        let now = clock.now()
        let triesLeft: Int
        if method == .token {
            _ = tokenLimiter.take(address, now: now)
            triesLeft = tokenLimiter.left(address, now: now)
        } else {
            triesLeft = challenge.countWrongTry(now: now)
        }
        try await note(
            WrongGuess(address: address, method: method, version: 2, triesLeft: triesLeft, isGuess: method == .code),
            start: start
        )
        return Self.wrongError(method, triesLeft: triesLeft)
    }

    private func enroll(
        _ device: PairedDevice,
        session: SessionStore.Session,
        method: PairingMethod,
        address: String
    ) async throws {
        let now = device.pairedAt
        let permissions = (device.permissions ?? []).map { JSONValue.string($0.rawValue) }
        let detail: JSONValue = [
            "address": .string(address), "method": .string(method.rawValue), "permissions": .array(permissions),
            "expiresAt": device.expiresAt.map { .string(CompanionTimestamp.string(from: $0)) } ?? .null, "version": 2,
        ]
        try await devices.enroll(device) { database in
            try SessionStore.removeAll(of: device.id, in: database)
            try SessionStore.store(session, in: database)
            try PairingBudget.storeReset(in: database)
            try AuditLog.append(.paired, device: device.id, detail: detail, at: now, in: database)
        } committed: { [sessions] in
            sessions.drop(device.id)
            sessions.admit(session, now: now)
        }
    }

    /// An exchange of the challenge that runs.
    private func running(
        _ id: String,
        now: Date
    ) throws -> (PairingExchanges<PairingResponder>.Exchange, PairingChallenge.Offer) {
        let known = exchanges.exchange(id)
        renew()
        for lapsed in exchanges.prune(now: now) where lapsed.share != nil {
            logger.notice(
                "a pairing was begun and not finished",
                metadata: .event("pairing", outcome: "unfinished", ["address": "\(lapsed.address)"])
            )
        }
        if let known, let end = challenge.end(ofChallenge: known.challenge) {
            exchanges.remove(id)
            guard end == .expired else { throw Self.notActiveError }
            throw HostError(
                .pairingExpired,
                "The code has expired: start again with the one that the host shows now",
                retryable: true
            )
        }
        guard let exchange = exchanges.exchange(id), exchange.challenge == challenge.number,
            let offer = challenge.offer
        else { throw Self.notActiveError }
        return (exchange, offer)
    }

    private static func check(_ request: PairingShareRequest) throws {
        func invalid(_ text: String) -> HostError {
            HostError(.requestInvalid, text)
        }
        guard [.code, .token].contains(request.method) else { throw invalid("method has to be code or token") }
        guard Base64.decode(request.devicePublicKey)?.count == 32 else {
            throw invalid("devicePublicKey has to be 32 bytes in base64")
        }
        guard request.deviceName.utf8.count <= 200, !request.deviceName.utf8.contains(0) else {
            throw invalid("deviceName is over 200 bytes or has a NUL")
        }
        guard request.permissions.count <= 16, request.permissions.allSatisfy({ $0.rawValue.utf8.count <= 64 }) else {
            throw invalid("permissions are over 16, or one is over 64 bytes")
        }
    }
}

extension CompanionPairingService {
    static let notActiveError = HostError(
        .pairingNotActive,
        "This pairing has ended: start again with the code that the host shows now",
        retryable: true
    )
    static let tooOftenError = HostError(
        .pairingRateLimited,
        "Too many pairings at a time: try again in half a minute",
        retryable: true,
        retryAfter: 30
    )
    static let badShareError = HostError(
        .pairingBadShare,
        "The share is not a point of the group, is its neutral element, or is the host's own"
    )

    static func wrongError(_ method: PairingMethod, triesLeft: Int) -> HostError {
        HostError(
            method == .token ? .pairingWrongToken : .pairingWrongCode,
            method == .token
                ? "Wrong token, or someone is intercepting the connection. Scan the code that the host shows"
                : "Wrong code, or someone is intercepting the connection. Check the code on the host",
            retryable: triesLeft > 0,
            triesLeft: triesLeft
        )
    }
}
