import CompanionWire
import FoundationEssentials
import Logging

/// Guesses: counted before they are judged, and stored before they are answered. A guess that cannot be stored is
/// refused, with an answer that does not tell whether it was right.
extension CompanionPairingService {
    /// A guess that was wrong.
    struct WrongGuess {
        var address: String
        var method: PairingMethod
        /// The protocol version that it came by: 1 or 2.
        var version: Int
        var triesLeft: Int
        /// Whether it counts towards the lock of the digits.
        var isGuess = true
    }

    /// Counts a guess at the digits in the database. To be called before it is judged, with nothing changed so far.
    ///
    /// - Throws: ``HostError`` with `host.storage_failed`.
    func storeGuess() async throws {
        do {
            try await devices.database.write(durably: true) { try PairingBudget.storeGuess(in: $0) }
        } catch {
            logger.error("guess not counted", metadata: .failure(error, code: .hostStorageFailed))
            throw HostError.notStored()
        }
    }

    /// Takes a count back where nothing was judged. If that cannot be stored, it only makes the lock come sooner.
    func storeNoGuess() async {
        do {
            try await devices.database.write { try PairingBudget.storeNoGuess(in: $0) }
        } catch {
            logger.error("count of guesses not stored", metadata: .failure(error, code: .hostStorageFailed))
        }
    }

    /// Notes a wrong try that was counted against the challenge already; stored before anyone is told. Of wrong tokens
    /// only so many a minute are reported (``tokenReports``).
    ///
    /// - Parameter start: When it came.
    /// - Throws: ``HostError`` with `host.storage_failed`.
    func note(_ wrong: WrongGuess, start: ContinuousClock.Instant) async throws {
        let now = clock.now()
        let isLocked = wrong.isGuess && budget.fail()
        let isBurnt = challenge.offer == nil
        if isLocked { exchanges.removeGuesses() }
        if isBurnt { exchanges.removeAll() }
        let isReported = wrong.method == .code || tokenReports.take("", now: now)
        if isReported {
            try await storing {
                try await storeFailure(wrong, failures: isLocked ? budget.failuresInARow : nil, now: now)
            }
            events.send(.wrongCode(address: wrong.address, triesLeft: wrong.triesLeft))
        } else {
            unreportedTokens += 1
        }
        if isBurnt { noteBurnt() }
        if isLocked {
            events.send(.pairingLocked(failures: budget.failuresInARow))
            logger.warning("pairing locked", metadata: .event("pairing", outcome: "locked", code: "pairing.locked"))
        }
        if isReported {
            logger.notice(
                "wrong pairing \(wrong.method.rawValue)",
                metadata: .event(
                    "pairing",
                    outcome: "failed",
                    code: "pairing.wrong_\(wrong.method.rawValue)",
                    latency: .now - start,
                    ["address": "\(wrong.address)", "triesLeft": "\(wrong.triesLeft)"]
                )
            )
        }
        renewAndWake()
    }

    /// Stores a proof that a challenge is known. Then it is used up, and the failures are forgotten.
    ///
    /// - Parameter number: The challenge's, which may have been replaced meanwhile.
    /// - Throws: The ``HostError`` of `store`; ``HostError`` with `host.storage_failed`.
    func succeed(challenge number: Int, storing store: () async throws -> Void) async throws {
        try await storing(store)
        if challenge.number == number {
            challenge.use(now: clock.now())
            exchanges.removeAll()
            events.send(.challengeEnded(reason: .used))
        }
        burntInARow = 0
        budget.reset()
        wakeSoon()
    }

    /// Stores the result of a guess. If that fails, a right guess ends like a wrong one: with the same answer, and with
    /// the end of its challenge.
    private func storing(_ store: () async throws -> Void) async throws {
        do {
            isStoring = true
            defer { isStoring = false }
            try await store()
        } catch let error as HostError where error.code != .hostStorageFailed {
            // It was right, and used up by v1 already.
            if challenge.offer == nil { events.send(.challengeEnded(reason: .used)) }
            renewAndWake()
            throw error
        } catch {
            logger.error("pairing not stored", metadata: .failure(error, code: .hostStorageFailed))
            challenge.burn(now: clock.now())
            events.send(.challengeEnded(reason: .burnt))
            exchanges.removeAll()
            renewAndWake()
            throw HostError.notStored()
        }
    }

    /// - Parameter failures: The failures in a row, if this one has locked the digits; else nil.
    private func storeFailure(_ wrong: WrongGuess, failures: Int?, now: Date) async throws(CompanionHostError) {
        let unreported = unreportedTokens
        var members: [String: JSONValue] = [
            "address": .string(wrong.address), "method": .string(wrong.method.rawValue),
            "version": .integer(Int64(wrong.version)), "triesLeft": .integer(Int64(wrong.triesLeft)),
        ]
        if unreported > 0 { members["unreportedTokens"] = .integer(Int64(unreported)) }
        let detail = JSONValue.object(members)
        try await devices.database.write(durably: true) { database in
            try AuditLog.append(.pairingFailed, device: nil, detail: detail, at: now, in: database)
            guard let failures else { return }
            let detail: JSONValue = ["failures": .integer(Int64(failures))]
            try AuditLog.append(.pairingLocked, device: nil, detail: detail, at: now, in: database)
        }
        unreportedTokens -= unreported
    }
}
