import CompanionWire
import FoundationEssentials
import Identity
import Logging

extension CompanionPairingService {
    /// Judges a device of v1 and, when it is right, connects it.
    ///
    /// - Parameter address: The address that the request came from; gated requests are served only to it from now on.
    /// - Returns: The device's id.
    /// - Throws: ``HostError`` with the text of deployed hosts, or with `host.storage_failed`.
    func complete(_ request: PairingCompleteRequest, address: IPAddress) async throws -> String {
        try await guesses.run("") { @Sendable in try await self.judged(request, address: address) }
    }

    private func judged(_ request: PairingCompleteRequest, address: IPAddress) async throws -> String {
        let start = ContinuousClock.now
        let now = clock.now()
        let key = request.devicePublicKey.trimmingWhitespace()
        let isCounted = try await isCounted(request, address: address, now: now, start: start)
        let verdict = challenge.judge(
            code: request.pairingCode.trimmingWhitespace(),
            token: request.pairingToken,
            publicKey: key,
            now: now
        )
        let number = challenge.number
        if case .wrongCode(let triesLeft) = verdict {
            let wrong = WrongGuess(
                address: address.description,
                method: .code,
                version: 1,
                triesLeft: triesLeft,
                isGuess: isCounted
            )
            try await note(wrong, start: start)
            throw Self.refusal(CompanionErrorResponse.Text.invalidCode)
        }
        if isCounted, verdict != .accepted { await storeNoGuess() }
        switch verdict {
        case .noActivePairing: throw Self.refusal(CompanionErrorResponse.Text.noActivePairing)
        case .expired:
            // Either the running one has just ended, or an earlier one's code came late: renewing tells them apart.
            if challenge.offer == nil, !isPaused { events.send(.challengeEnded(reason: .expired)) }
            renew()
            throw Self.refusal(CompanionErrorResponse.Text.pairingExpired)
        case .wrongToken(let triesLeft):
            throw try await wrongToken(triesLeft: triesLeft, address: address, start: start)
        case .missingPublicKey:
            throw Self.refusal(CompanionErrorResponse.Text.missingPublicKey)
        case .accepted, .wrongCode: break
        }
        let grant = grant
        let name = request.deviceName.trimmingWhitespace()
        let device = PairedDevice(
            id: DeviceIdentity.deviceID(publicKeyText: key),
            name: name.isEmpty ? PairedDevice.nameless : name,
            publicKey: key,
            permissions: grant.permissions,
            expiresAt: grant.end(from: now),
            protocolVersion: 1,
            pairedAt: now,
            lastSeenAt: now
        )
        try await succeed(challenge: number) {
            try await devices.connect(device, address: address) { database in
                try PairingBudget.storeReset(in: database)
                let detail: JSONValue = ["address": .string(address.description), "version": 1]
                try AuditLog.append(.paired, device: device.id, detail: detail, at: now, in: database)
            }
        }
        logPaired(device.id, since: start, address: "\(address)")
        events.send(.paired(device.companionDevice, address: address.description))
        return device.id
    }

    /// Counts a request as a guess before it is judged, where it can be one. With the digits locked, only a request
    /// with the token is judged.
    ///
    /// - Returns: Whether it is counted.
    private func isCounted(
        _ request: PairingCompleteRequest,
        address: IPAddress,
        now: Date,
        start: ContinuousClock.Instant
    ) async throws -> Bool {
        guard let offer = challenge.offer, offer.expiresAt > now else { return false }
        guard budget.isLocked else {
            try await storeGuess()
            return true
        }
        guard let token = request.pairingToken, !token.isEmpty else {
            throw Self.refusal(CompanionErrorResponse.Text.noActivePairing)
        }
        guard tokenLimiter.left(address.description, now: now) > 0 else { throw Self.tooOftenError }
        guard challenge.hasToken(token) else {
            _ = tokenLimiter.take(address.description, now: now)
            let triesLeft = tokenLimiter.left(address.description, now: now)
            throw try await wrongToken(triesLeft: triesLeft, address: address, start: start)
        }
        return false
    }

    /// A refusal as v1 has it: a text without a code.
    private static func refusal(_ text: String) -> HostError {
        HostError(.requestInvalid, text, variant: .textOnlyInV1)
    }

    /// Notes a wrong token.
    ///
    /// - Returns: The answer.
    private func wrongToken(
        triesLeft: Int,
        address: IPAddress,
        start: ContinuousClock.Instant
    ) async throws -> HostError {
        let wrong = WrongGuess(
            address: address.description,
            method: .token,
            version: 1,
            triesLeft: triesLeft,
            isGuess: false
        )
        try await note(wrong, start: start)
        return Self.refusal(CompanionErrorResponse.Text.invalidToken)
    }
}
