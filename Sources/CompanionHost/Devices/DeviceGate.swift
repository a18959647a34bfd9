import CompanionWire
import FoundationEssentials
import GRDB
import Identity
import Logging
import NIOConcurrencyHelpers

/// Authenticates devices of v2: by sessions, and by the signatures that open new ones (companion-v2, Sessions).
struct DeviceGate: Sendable {
    /// Seconds that a request for a session may be old, and that it may be ahead of the host's clock.
    static let maximumAge: TimeInterval = 300
    static let maximumLead: TimeInterval = 60
    /// Sessions that a device may open at once, and seconds after which it may open one more.
    static let burst = 20
    static let interval: TimeInterval = 3
    /// Seconds between two removals of nonces and commands that can no longer be repeated.
    static let pruneInterval: TimeInterval = 30

    static let deviceExpired = HostError(
        .deviceExpired,
        "This device's access has expired: pair again"
    )
    private static let sessionExpired = HostError(.sessionExpired, "The session is over", retryable: true)

    let hostID: String
    let devices: CompanionDeviceStore
    let sessions: SessionStore
    let revocations: RevocationCenter
    let clock: HostClock
    let events: HostEventSink
    let logger: Logger
    private let limiter = NIOLockedValueBox(RateLimiter(burst: burst, interval: interval))
    private let lastPrune = NIOLockedValueBox(Date.distantPast)

    init(
        hostID: String,
        devices: CompanionDeviceStore,
        sessions: SessionStore,
        revocations: RevocationCenter,
        clock: HostClock,
        events: HostEventSink,
        logger: Logger
    ) {
        self.hostID = hostID
        self.devices = devices
        self.sessions = sessions
        self.revocations = revocations
        self.clock = clock
        self.events = events
        self.logger = logger
    }

    /// The device that a session token belongs to.
    ///
    /// - Parameter token: nil where the request has none.
    /// - Throws: ``HostError``: `session.required` without a token, `session.expired` for one that is over or
    ///   unknown, `device.revoked`, `device.expired`.
    func authenticate(_ token: String?) async throws -> AuthenticatedDevice {
        let start = ContinuousClock.now
        var device: String?
        do {
            return try await authenticate(token, claims: &device)
        } catch {
            let code = HostError(describing: error)?.code.rawValue
            logger.info(
                "request",
                metadata: .event("auth", outcome: "refused", code: code, latency: .now - start, device: device)
            )
            throw error
        }
    }

    /// - Parameter id: Gets the id of the device whose token it is, also if that is refused.
    private func authenticate(_ token: String?, claims id: inout String?) async throws -> AuthenticatedDevice {
        guard let token else { throw HostError(.sessionRequired, "A session is required") }
        // Before the session is read: an end between the two is noticed by the code that waits for it.
        guard let entry = sessions.entry(token: token) else { throw Self.sessionExpired }
        id = entry.device
        let epoch = revocations.epoch(of: entry.device)
        let device = try activeDevice(entry.device)
        guard entry.expiresAt > clock.now(), sessions.entry(token: token) != nil else {
            throw Self.sessionExpired
        }
        await devices.touch(device.id)
        return AuthenticatedDevice(device, sessionEnd: entry.expiresAt, protocolVersion: 2, epoch: epoch)
    }

    /// A device of v2 that is paired, not revoked, and whose time is not over.
    ///
    /// - Throws: ``HostError``: `device.unknown`, `device.revoked`, `device.expired`.
    func activeDevice(_ id: String) throws -> PairedDevice {
        guard let device = devices.device(id: id), device.protocolVersion >= 2 else {
            throw HostError(.deviceUnknown, "This device is not paired with the host: pair first")
        }
        guard !device.isRevoked else {
            throw HostError(.deviceRevoked, "This device was revoked at the host: pair again")
        }
        guard device.isActive(at: clock.now()) else {
            throw Self.deviceExpired
        }
        return device
    }

    /// Opens a session for a device that has signed the request. Nonce and session are stored together, before the
    /// answer.
    ///
    /// - Throws: ``SignedCommandError`` for the shape; ``HostError``: as ``activeDevice(_:)``,
    ///   `session.wrong_audience`, `session.bad_signature`, `session.expired` for a request from another time,
    ///   `session.rate_limited`, `session.replayed`.
    func open(_ body: [UInt8], address: String) async throws -> SessionGrant {
        let start = ContinuousClock.now
        var device: String?
        do {
            let request = try SessionRequest.parse(body)
            let known = try activeDevice(request.deviceId)
            device = known.id
            let grant = try await open(request, of: known, address: address)
            logger.info("session", metadata: .event("auth", outcome: "opened", latency: .now - start, device: device))
            return grant
        } catch {
            let code = HostError(describing: error)?.code.rawValue
            logger.notice(
                "session",
                metadata: .event("auth", outcome: "refused", code: code, latency: .now - start, device: device)
            )
            throw error
        }
    }

    private func open(
        _ request: SessionRequest,
        of device: PairedDevice,
        address: String
    ) async throws -> SessionGrant {
        // A host that was asked may pass the request on.
        guard request.audience ?? hostID == hostID else {
            throw HostError(.sessionWrongAudience, "The request is for another host")
        }
        guard let key = Base64.decode(device.publicKey),
            Ed25519.verify(signature: request.signatureBytes, message: request.signedBytes, publicKey: key)
        else {
            throw HostError(.sessionBadSignature, "The signature is not the device's")
        }
        let now = clock.now()
        let age = now.timeIntervalSince(request.issuedAt)
        guard age <= Self.maximumAge, age >= -Self.maximumLead else {
            throw HostError(
                .sessionExpired,
                "The request is from another time: set issuedAt by serverTime",
                variant: .signedRequest,
                retryable: true
            )
        }
        // After the signature: others cannot use up the device's limit.
        guard limiter.withLockedValue({ $0.take(device.id, now: now) }) else {
            throw HostError(
                .sessionRateLimited,
                "This device opens sessions too often: try again in a few seconds",
                retryable: true,
                retryAfter: Int(Self.interval)
            )
        }
        await pruneIfDue()
        let session = SessionStore.Session(device: device.id, now: now)
        let end = request.issuedAt.addingTimeInterval(Self.maximumAge)
        let isNew = !sessions.hasSession(device.id, now: now)
        try await devices.database.writeChecked { database in
            guard try SeenNonce.note("session:" + request.nonce, of: device.id, until: end, in: database) else {
                throw HostError(.sessionReplayed, "The request was used before")
            }
            // Revoked since it was looked at: this is where revocations are, too.
            _ = try activeDevice(device.id)
            try SessionStore.store(session, in: database)
        } committed: { [sessions] in
            sessions.admit(session, now: now)
        }
        if isNew { events.send(.connected(device.companionDevice, address: address)) }
        return session.grant
    }

    /// Removes the nonces and commands that can no longer be repeated, every 30 seconds at most.
    func pruneIfDue() async {
        let now = clock.now()
        let isDue = lastPrune.withLockedValue { last in
            guard now.timeIntervalSince(last) >= Self.pruneInterval else { return false }
            last = now
            return true
        }
        guard isDue else { return }
        do {
            try await devices.database.write { try SeenNonce.prune(now: now, in: $0) }
        } catch {
            logger.error("old commands not removed", metadata: .failure(error))
        }
    }

}

/// A nonce that was used. It is kept until the message that it came with is too old anyway.
struct SeenNonce: HostRecord {
    /// The id of the device.
    var device: String
    var nonce: String
    var expiresAt: Date

    /// Notes a nonce, within a transaction.
    ///
    /// - Returns: Whether it is new.
    static func note(_ nonce: String, of device: String, until end: Date, in database: Database) throws -> Bool {
        try SeenNonce(device: device, nonce: nonce, expiresAt: end).insert(database, onConflict: .ignore)
        return database.changesCount > 0
    }

    /// Removes the nonces of messages that are too old to be repeated, and the results of commands that are. A minute
    /// is left for clocks that differ.
    static func prune(now: Date, in database: Database) throws {
        let time = CompanionTimestamp.string(from: now.addingTimeInterval(-60))
        try SeenNonce.filter(Column("expiresAt") < time).deleteAll(database)
        try SeenCommand.filter(Column("expiresAt") < time).deleteAll(database)
    }
}
