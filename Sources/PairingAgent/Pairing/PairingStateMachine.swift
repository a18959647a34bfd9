package import CompanionWire
package import FoundationEssentials
package import Identity

/// A pairing by protocol v1. A state machine without any I/O that takes events and returns actions.
///
///     health ─► (clock, expiry) ─► complete ─┬─► paired
///                                            └─► status, where the answer leaves it open ─► paired or failed
package struct PairingStateMachine: Sendable {
    package enum Event: Sendable {
        case health(Result<PairingHostHealth, PairingTransportError>)
        case completed(Result<CompanionStatusResponse, PairingTransportError>)
        case status(Result<CompanionStatusResponse, PairingTransportError>)
    }

    package enum Action: Sendable {
        case askHealth
        case complete(PairingCompleteRequest)
        case askStatus
        case succeed(ConnectedCompanionDevice)
        case fail(PairingError)
    }

    private enum State {
        case idle
        case checkingHost
        case completing
        /// The request failed, but may have taken effect.
        case confirming(PairingError)
        case finished
    }

    /// Smaller differences between clocks are not reported.
    private static let tolerableSkew = Duration.seconds(30)

    private let payload: PairingPayload
    private let deviceName: String
    private let identity: DeviceIdentity
    private var state = State.idle
    /// The host's clock minus ours.
    package private(set) var clockOffset: Duration?

    /// - Parameters:
    ///   - payload: The code, with token and expiry if it came from a QR code.
    ///   - deviceName: The name for this device in the host's list.
    package init(payload: PairingPayload, deviceName: String, identity: DeviceIdentity) {
        self.payload = payload
        self.deviceName = deviceName
        self.identity = identity
    }

    /// Returns the first action.
    package mutating func start() -> Action {
        state = .checkingHost
        return .askHealth
    }

    /// - Parameter now: This machine's time.
    package mutating func handle(_ event: Event, now: Date) -> Action {
        switch (state, event) {
        case (.checkingHost, .health(let result)): handleHealth(result, now: now)
        case (.completing, .completed(let result)): handleCompleted(result, now: now)
        case (.confirming(let reason), .status(let result)): handleStatus(result, reason: reason)
        default: fail(PairingError(.rejected, "the pairing went out of step"))
        }
    }

    private mutating func handleHealth(_ result: Result<PairingHostHealth, PairingTransportError>, now: Date) -> Action
    {
        switch result {
        case .failure(let error):
            return fail(Self.hostError(error))
        case .success(let health):
            guard health.isCompanion else {
                let name = health.service.map { "it calls itself “\($0)”" } ?? "it does not say what it is"
                return fail(PairingError(.wrongService, "another service than a companion host answers there: \(name)"))
            }
            clockOffset = health.clockOffset
            if let expired = expiryError(now: now) { return fail(expired) }
            state = .completing
            return .complete(
                PairingCompleteRequest(
                    pairingCode: payload.code,
                    pairingToken: payload.token,
                    deviceName: deviceName,
                    devicePublicKey: identity.publicKeyText
                )
            )
        }
    }

    private mutating func handleCompleted(
        _ result: Result<CompanionStatusResponse, PairingTransportError>,
        now: Date
    ) -> Action {
        switch result {
        case .success(let status):
            return finish(with: status)
        case .failure(let error):
            if let final = refusal(error, now: now) { return fail(final) }
            // After a storage error or a lost answer, the device may be connected all the same.
            state = .confirming(Self.hostError(error))
            return .askStatus
        }
    }

    private mutating func handleStatus(
        _ result: Result<CompanionStatusResponse, PairingTransportError>,
        reason: PairingError
    ) -> Action {
        guard case .success(let status) = result, status.connectedDevice?.id == identity.deviceID else {
            return fail(reason)
        }
        return finish(with: status)
    }

    private mutating func finish(with status: CompanionStatusResponse) -> Action {
        guard status.connected, let device = status.connectedDevice else {
            return fail(
                PairingError(.notConnected, "the host took the code but does not list this device as connected")
            )
        }
        guard device.id == identity.deviceID else {
            return fail(
                PairingError(
                    .foreignDevice,
                    "the host answered with another device (\(device.id), “\(device.name)”) than this one "
                        + "(\(identity.deviceID)): it cannot be trusted with this pairing"
                )
            )
        }
        state = .finished
        return .succeed(device)
    }

    private mutating func fail(_ error: PairingError) -> Action {
        state = .finished
        return .fail(error)
    }

    /// The error for refusals after which the device is certainly not connected.
    private func refusal(_ error: PairingTransportError, now: Date) -> PairingError? {
        switch error.reason {
        case .otherVersions: return Self.hostError(error)
        case .refusedByCode(let code, _, _) where code.rawValue.begins(with: "pairing."): return Self.hostError(error)
        default: break
        }
        guard case .refused(let text) = error.reason else { return nil }
        switch text {
        case CompanionErrorResponse.Text.invalidCode:
            return PairingError(.wrongCode, "the host does not know this code")
        case CompanionErrorResponse.Text.invalidToken:
            return PairingError(
                .wrongToken,
                "the code is right but the QR code's token is not: it is from an older code"
            )
        case CompanionErrorResponse.Text.pairingExpired:
            return hasNotableSkew
                ? PairingError(.clockSkew, "the host says that the code has expired; \(skewText)")
                : PairingError(.expired, "the code has expired")
        case CompanionErrorResponse.Text.noActivePairing:
            return PairingError(
                .noChallenge,
                "the host shows no pairing code at the moment, or this one was used already"
            )
        case CompanionErrorResponse.Text.missingPublicKey:
            return PairingError(.rejected, "the host did not accept this device's key")
        default:
            return nil
        }
    }

    private static func hostError(_ error: PairingTransportError) -> PairingError {
        PairingError(error)
    }

    // MARK: Clocks

    /// An error if the QR code has expired by the host's clock, so that sending it is pointless.
    private func expiryError(now: Date) -> PairingError? {
        guard let expiresAt = payload.expiresAt else { return nil }
        let offset = clockOffset.map(\.seconds) ?? 0
        guard now.timeIntervalSince1970 + offset >= expiresAt.timeIntervalSince1970 else { return nil }
        if hasNotableSkew, now < expiresAt {
            return PairingError(.clockSkew, "the code has expired by the host's clock; \(skewText)")
        }
        return PairingError(
            .expired,
            "the code expired at \(CompanionTimestamp.string(from: expiresAt)) (host's clock)"
        )
    }

    private var hasNotableSkew: Bool {
        guard let clockOffset else { return false }
        return clockOffset > Self.tolerableSkew || clockOffset < .zero - Self.tolerableSkew
    }

    private var skewText: String {
        let seconds = Int((clockOffset ?? .zero).seconds.rounded())
        return "its clock is \(abs(seconds)) seconds \(seconds > 0 ? "ahead of" : "behind") this machine's"
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
