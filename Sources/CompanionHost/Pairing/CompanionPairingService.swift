package import CompanionWire
import FoundationEssentials
import HTTPTypes
import Logging
import ServiceLifecycle

/// Keeps a valid challenge running, and judges the devices that answer it.
///
/// A challenge that expires, is used or is burnt is followed by a new one. After several burnt in a row the next one
/// is held back (5 s, 10 s, 20 s … 5 minutes): someone who guesses gets fewer than a thousand guesses a day out of
/// a million codes. A start from this machine ends that pause.
package actor CompanionPairingService {
    private var challenge = PairingChallenge()
    private let seconds: Int
    private let clock: HostClock
    private let devices: CompanionDeviceStore
    private let events: HostEventSink
    private let logger: Logger
    private var burntInARow = 0
    private var pausedUntil: Date?
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init(seconds: Int, clock: HostClock, devices: CompanionDeviceStore, events: HostEventSink, logger: Logger) {
        self.seconds = min(max(seconds, 1), 900)
        self.clock = clock
        self.devices = devices
        self.events = events
        self.logger = logger
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The seconds that a request for a challenge gets: truncated, clamped to 60…900; 300 without a number.
    package static func clamped(ttlSeconds: Double?) -> Int {
        guard let ttlSeconds, !ttlSeconds.isNaN else { return 300 }
        return Int(min(max(ttlSeconds.rounded(.towardZero), 60), 900))
    }

    /// Starts a challenge in place of the running one.
    ///
    /// - Parameter ttlSeconds: As the request had it; see ``clamped(ttlSeconds:)``.
    package func start(ttlSeconds: Double?) -> PairingStartResponse {
        pausedUntil = nil
        return start(seconds: Self.clamped(ttlSeconds: ttlSeconds))
    }

    /// Judges a device and, when it is right, connects it.
    ///
    /// - Parameter address: Where the request came from; gated requests are served only to it from now on.
    /// - Throws: ``HostResponseError`` with the text of deployed hosts.
    func complete(_ body: PairingCompleteBody, address: IPAddress) async throws {
        let now = clock.now()
        let key = body.devicePublicKey.trimmingWhitespace()
        let verdict = challenge.judge(
            code: body.pairingCode.trimmingWhitespace(),
            token: body.pairingToken,
            publicKey: key,
            now: now
        )
        switch verdict {
        case .noActivePairing: throw HostResponseError(.badRequest, CompanionErrorResponse.Text.noActivePairing)
        case .expired:
            // Either the running one has just ended, or an earlier one's code came late: renewing tells them apart.
            if challenge.offer == nil, pausedUntil == nil { events.send(.challengeEnded(reason: .expired)) }
            renew()
            throw HostResponseError(.badRequest, CompanionErrorResponse.Text.pairingExpired)
        case .wrongCode(let triesLeft):
            noteWrongTry(address: address, triesLeft: triesLeft)
            throw HostResponseError(.badRequest, CompanionErrorResponse.Text.invalidCode)
        case .wrongToken(let triesLeft):
            noteWrongTry(address: address, triesLeft: triesLeft)
            throw HostResponseError(.badRequest, CompanionErrorResponse.Text.invalidToken)
        case .missingPublicKey:
            throw HostResponseError(.badRequest, CompanionErrorResponse.Text.missingPublicKey)
        case .accepted:
            burntInARow = 0
            events.send(.challengeEnded(reason: .used))
            wake.yield()
        }
        let name = body.deviceName.trimmingWhitespace()
        let device = try await devices.connect(
            publicKey: key,
            name: name.isEmpty ? "iPhone" : name,
            address: address,
            now: now
        )
        logger.info("device paired", metadata: ["device": "\(device.id)", "address": "\(address)"])
        events.send(.paired(device, address: address.description))
    }

    /// Starts the first challenge and renews it until the host ends.
    package func run() async {
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

    /// Sees to it that a valid challenge runs, unless new ones are held back.
    private func renew() {
        let now = clock.now()
        if challenge.expire(now: now) {
            events.send(.challengeEnded(reason: .expired))
        }
        if let end = pausedUntil, end > now { return }
        pausedUntil = nil
        if challenge.offer == nil { _ = start(seconds: seconds) }
    }

    private func start(seconds: Int) -> PairingStartResponse {
        // Full milliseconds, so that the texts, the payload and the check agree.
        let now = Date(timeIntervalSince1970: (clock.now().timeIntervalSince1970 * 1000).rounded(.down) / 1000)
        let replaced = challenge.start(
            code: PairingSecrets.code(),
            token: PairingSecrets.token(),
            seconds: seconds,
            now: now
        )
        if replaced { events.send(.challengeEnded(reason: .replaced)) }
        guard let offer = challenge.offer else { preconditionFailure("a challenge was just started") }
        let payload = PairingPayload(code: offer.code, token: offer.token, expiresAt: offer.expiresAt)
        let response = PairingStartResponse(code: offer.code, expiresAt: offer.expiresAt, qrPayload: payload.text)
        events.send(.challenge(response))
        wake.yield()
        return response
    }

    private func noteWrongTry(address: IPAddress, triesLeft: Int) {
        logger.notice("wrong pairing code", metadata: ["address": "\(address)", "triesLeft": "\(triesLeft)"])
        events.send(.wrongCode(address: address.description, triesLeft: triesLeft))
        guard triesLeft == 0 else { return }
        events.send(.challengeEnded(reason: .burnt))
        burntInARow += 1
        if burntInARow > 1 {
            let pause = min(5 * (1 << min(burntInARow - 2, 10)), 300)
            pausedUntil = clock.now().addingTimeInterval(TimeInterval(pause))
        }
        renew()
        wake.yield()
    }
}
