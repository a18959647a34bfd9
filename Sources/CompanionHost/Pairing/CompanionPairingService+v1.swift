import CompanionWire
import FoundationEssentials
import HTTPTypes
import Logging
import PairingAgent

extension CompanionPairingService {
    /// Judges a device of v1 and, when it is right, connects it.
    ///
    /// - Parameter address: Where the request came from; gated requests are served only to it from now on.
    /// - Throws: ``HostResponseError`` with the text of deployed hosts.
    func complete(_ body: PairingCompleteBody, address: IPAddress) async throws {
        let start = ContinuousClock.now
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
            if challenge.offer == nil, !isPaused { events.send(.challengeEnded(reason: .expired)) }
            renew()
            throw HostResponseError(.badRequest, CompanionErrorResponse.Text.pairingExpired)
        case .wrongCode(let triesLeft):
            let wrong = WrongTry(address: address.description, method: .code, version: 1, triesLeft: triesLeft)
            await note(wrong, start: start)
            throw HostResponseError(.badRequest, CompanionErrorResponse.Text.invalidCode)
        case .wrongToken(let triesLeft):
            let wrong = WrongTry(address: address.description, method: .token, version: 1, triesLeft: triesLeft)
            await note(wrong, start: start)
            throw HostResponseError(.badRequest, CompanionErrorResponse.Text.invalidToken)
        case .missingPublicKey:
            throw HostResponseError(.badRequest, CompanionErrorResponse.Text.missingPublicKey)
        case .accepted: break
        }
        let grant = grant
        let name = body.deviceName.trimmingWhitespace()
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
        try await succeed {
            try await devices.connect(device, address: address) { database in
                try PairingBudget.storeReset(in: database)
                let detail: JSONValue = ["address": .string(address.description), "version": 1]
                try AuditLog.append(.paired, device: device.id, detail: detail, at: now, in: database)
            }
        }
        logPaired(device.id, since: start, address: "\(address)")
        events.send(.paired(device.companionDevice, address: address.description))
    }
}

extension PairingGrant {
    /// When a device that pairs now has to go.
    func end(from now: Date) -> Date? {
        lifetime.map { now.addingTimeInterval(TimeInterval($0.components.seconds)) }
    }

    /// What a device gets of what it asks for.
    func granted(of asked: [CompanionPermission]) -> [CompanionPermission] {
        let allowed = Set(permissions ?? CompanionPermission.all).intersection(CompanionPermission.all)
        var seen: Set<CompanionPermission> = []
        return asked.filter { allowed.contains($0) && seen.insert($0).inserted }
    }
}
