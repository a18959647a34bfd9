package import CompanionWire
package import FoundationEssentials
import GRDB
import Identity
import Logging
import ServiceLifecycle

/// Keeps a valid challenge running, and verifies the devices that answer it, by v1 or v2.
///
/// If the ``policy`` says so, a challenge that expires, is used or is burnt is followed by a new one. After several
/// burnt in a row the next one is delayed (5 s, 10 s, 20 s … 5 minutes). After ten wrong codes in a row no digits are
/// accepted until the owner unlocks pairing; the token of the QR code still is. A start from this machine ends a pause,
/// but not the lock.
package actor CompanionPairingService {
    /// The times of the challenges, the guesses that are left, and the lock.
    package struct State: Sendable, Hashable {
        /// When the running challenge ends; nil when none runs.
        package var expiresAt: Date?
        /// When the next one starts, while none runs because several codes were burnt; else nil.
        package var nextAt: Date?
        /// Wrong codes or tokens that the running challenge still accepts; 0 if none runs.
        package var triesLeft: Int
        /// Wrong codes since the last successful pairing or the last unlock, over all challenges and restarts.
        package var failuresInARow: Int
        /// Whether no digits are accepted until the owner unlocks pairing.
        package var isLocked: Bool
    }

    var challenge = PairingChallenge()
    var budget: PairingBudget
    var exchanges = PairingExchanges<PairingResponder>()
    /// 24 exchanges at once from one address, then one every 5 s.
    var limiter = RateLimiter(burst: 24, interval: 5)
    /// Three wrong tokens at once from one address, then one every 30 s.
    var tokenLimiter = RateLimiter(burst: 3, interval: 30)
    /// How often a wrong token is reported and audited, from any address: twelve at once, then one every 5 s. Anyone on
    /// the network can send wrong ones, from as many addresses as they like.
    var tokenReports = RateLimiter(burst: 12, interval: 5)
    /// Wrong tokens that were not audited since the last one that was.
    var unreportedTokens = 0
    /// Guesses are counted, judged and stored one after the other.
    let guesses = KeyedLock()
    /// Whether a guess is being stored: its result is reported before the next challenge.
    var isStoring = false
    var burntInARow = 0
    /// The permissions and the time that a device gets from the running challenge.
    private(set) var grant: PairingGrant
    let identity: HostIdentity
    let clock: HostClock
    let devices: CompanionDeviceStore
    let sessions: SessionStore
    let revocations: RevocationCenter
    let events: HostEventSink
    let logger: Logger
    private let seconds: Int
    /// This machine's addresses, asked at each code: networks come and go.
    private let addresses: @Sendable () -> [String]
    /// The relays of the host, and the id by which they know it.
    private let relays: @Sendable () -> CompanionReachResponse
    let usualGrant: PairingGrant
    private var tlsPort: Int?
    private var pausedUntil: Date?
    /// When challenges are started without a request from this machine.
    let policy: ChallengePolicy
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init(
        identity: HostIdentity,
        seconds: Int,
        grant: PairingGrant,
        policy: ChallengePolicy,
        addresses: @escaping @Sendable () -> [String],
        relays: @escaping @Sendable () -> CompanionReachResponse,
        clock: HostClock,
        devices: CompanionDeviceStore,
        sessions: SessionStore,
        revocations: RevocationCenter,
        events: HostEventSink,
        logger: Logger
    ) throws(CompanionHostError) {
        self.identity = identity
        self.seconds = min(max(seconds, 1), 900)
        self.grant = grant
        usualGrant = grant
        self.policy = policy
        self.addresses = addresses
        self.relays = relays
        self.clock = clock
        self.devices = devices
        self.sessions = sessions
        self.revocations = revocations
        self.events = events
        self.logger = logger
        budget = try devices.database.writeBlocking { try PairingBudget($0) }
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The seconds that a request for a challenge gets: truncated, clamped to 60…900; 300 without a number.
    package static func clamped(ttlSeconds: Double?) -> Int {
        guard let ttlSeconds, !ttlSeconds.isNaN else { return 300 }
        return Int(min(max(ttlSeconds.rounded(.towardZero), 60), 900))
    }

    /// The present state.
    package var state: State {
        State(
            expiresAt: challenge.offer?.expiresAt,
            nextAt: challenge.offer == nil ? pausedUntil : nil,
            triesLeft: challenge.offer == nil ? 0 : challenge.triesLeft,
            failuresInARow: budget.failuresInARow,
            isLocked: budget.isLocked
        )
    }

    /// Starts a challenge in place of the running one.
    ///
    /// - Parameters:
    ///   - ttlSeconds: As the request had it; see ``clamped(ttlSeconds:)``.
    ///   - grant: The limits of the device that uses it. Default: nil, those that the host was configured with.
    package func start(ttlSeconds: Double?, grant: PairingGrant? = nil) -> PairingStartResponse {
        pausedUntil = nil
        return start(seconds: Self.clamped(ttlSeconds: ttlSeconds), grant: grant ?? usualGrant)
    }

    /// Unlocks pairing after too many wrong codes, forgets all that were counted, and ends a pause. To be called for
    /// someone at this machine only.
    ///
    /// - Throws: ``CompanionHostError`` if it cannot be stored; pairing stays locked then.
    package func unlock() async throws {
        let now = clock.now()
        let failures = budget.failuresInARow
        guard failures > 0 || pausedUntil != nil else { return }
        try await devices.database.write(durably: true) { database in
            try PairingBudget.storeReset(in: database)
            let detail: JSONValue = ["failures": .integer(Int64(failures))]
            try AuditLog.append(.pairingUnlocked, device: nil, detail: detail, at: now, in: database)
        }
        let wasLocked = budget.isLocked
        budget.reset()
        burntInARow = 0
        pausedUntil = nil
        logger.notice("pairing unlocked", metadata: .event("pairing", outcome: "unlocked"))
        if wasLocked {
            events.send(.pairingUnlocked)
            // The digits that were guessed at are not taken again.
            if policy != .onDemand, challenge.offer != nil { _ = start(seconds: seconds, grant: grant) }
        }
        renew()
        wake.yield()
    }

    /// Starts the first challenge and renews it until the host ends.
    ///
    /// - Parameter tlsPort: The port on which the host serves HTTPS.
    package func run(tlsPort: Int) async {
        self.tlsPort = tlsPort
        if budget.isLocked { events.send(.pairingLocked(failures: budget.failuresInARow)) }
        renew()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.sleepUntilDeadline() }
            for await _ in wakeups.cancelOnGracefulShutdown() {
                renew()
                group.addTask { await self.sleepUntilDeadline() }
            }
            group.cancelAll()
        }
    }

    /// Sleeps until there is something to renew, and says so.
    private func sleepUntilDeadline() async {
        guard let deadline = challenge.offer?.expiresAt ?? pausedUntil else { return }
        guard (try? await clock.sleepUntil(deadline)) != nil else { return }
        wake.yield()
    }

    /// Starts a challenge when none is valid, unless new ones are delayed or start on demand.
    func renew() {
        let now = clock.now()
        if challenge.expire(now: now) {
            events.send(.challengeEnded(reason: .expired))
        }
        guard !isOnDemand, !isStoring else { return }
        if let end = pausedUntil, end > now { return }
        pausedUntil = nil
        if challenge.offer == nil { _ = start(seconds: seconds, grant: usualGrant) }
    }

    /// Whether the next challenge waits for a request from this machine.
    private var isOnDemand: Bool { !policy.startsNext(devices: devices.devices(), now: clock.now()) }

    /// Whether no challenge runs because several were burnt.
    var isPaused: Bool { pausedUntil != nil }

    /// Why nobody can pair now: for some seconds after several codes were burnt, else because no challenge runs.
    func noChallenge(now: Date) -> HostError {
        guard let pausedUntil, pausedUntil > now else {
            guard isOnDemand else { return Self.notActiveError }
            return HostError(
                .pairingNotActive,
                "The host shows no code. To show one, on the host: pairtool host pair",
                retryable: true
            )
        }
        let seconds = Int(pausedUntil.timeIntervalSince(now).rounded(.up))
        return HostError(
            .pairingRateLimited,
            "After so many wrong codes, the next code appears in \(seconds) s",
            retryable: true,
            retryAfter: seconds
        )
    }

    private func start(seconds: Int, grant: PairingGrant) -> PairingStartResponse {
        // Full milliseconds, so that the texts, the payload and the check agree.
        let now = Date(timeIntervalSince1970: (clock.now().timeIntervalSince1970 * 1000).rounded(.down) / 1000)
        let (offer, isReplacement) = challenge.start(
            code: PairingSecrets.code(),
            token: PairingSecrets.token(),
            seconds: seconds,
            now: now
        )
        self.grant = grant
        if isReplacement { events.send(.challengeEnded(reason: .replaced)) }
        var payload = PairingPayload(
            code: offer.code,
            token: offer.token,
            expiresAt: offer.expiresAt,
            version: 2,
            host: identity.id,
            spki: identity.pin,
            port: tlsPort
        )
        let reach = relays()
        if let id = reach.relayId, !reach.relays.isEmpty { payload = payload.naming(relays: reach.relays, host: id) }
        payload = payload.naming(addresses())
        let response = PairingStartResponse(code: offer.code, expiresAt: offer.expiresAt, qrPayload: payload.text)
        events.send(.challenge(response))
        wake.yield()
        return response
    }

    /// - Parameter method: The method of a pairing by v2; nil for v1.
    func logPaired(
        _ device: String,
        since start: ContinuousClock.Instant,
        address: String,
        method: PairingMethod? = nil
    ) {
        var details: Logger.Metadata = ["address": "\(address)"]
        details["method"] = method.map { "\($0.rawValue)" }
        logger.info(
            "device paired",
            metadata: .event("pairing", outcome: "paired", latency: .now - start, device: device, details)
        )
    }

    /// Delays the next challenge after several that were burnt in a row.
    func noteBurnt() {
        events.send(.challengeEnded(reason: .burnt))
        burntInARow += 1
        guard burntInARow > 1, !isOnDemand else { return }
        let pause = min(5 * (1 << min(burntInARow - 2, 10)), 300)
        pausedUntil = clock.now().addingTimeInterval(TimeInterval(pause))
    }

    /// Renews the challenge, and has the next deadline computed.
    func renewAndWake() {
        renew()
        wake.yield()
    }

    /// Does the same as ``renewAndWake()`` after the events that are being sent now.
    func wakeSoon() {
        wake.yield()
    }
}
