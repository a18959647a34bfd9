internal import CompanionClient
package import CompanionWire
package import FoundationEssentials
package import Identity

/// A pairing by protocol v1. A state machine without any I/O that takes events and returns actions.
///
///     health ─► (clock, expiry) ─► complete ─┬─► paired
///                                            └─► status, where the answer leaves it open ─► paired or failed
package struct PairingStateMachine: Sendable {
    /// The answer to an ``Action``.
    package enum Event: Sendable {
        /// The clock offset is the host's clock minus this machine's, from the `Date` header (one second resolution);
        /// nil without the header.
        case health(Result<CompanionHealthResponse, any Error>, clockOffset: Duration?)
        /// The answer to ``Action/complete(_:)``.
        case completed(Result<CompanionStatusResponse, any Error>)
        /// The answer to ``Action/askStatus``.
        case status(Result<CompanionStatusResponse, any Error>)
    }

    /// A request to send to the host, or the end of the pairing.
    package enum Action: Sendable {
        case askHealth
        /// Send the code and this device's public key.
        case complete(PairingCompleteRequest)
        /// Ask whether this device is connected, because the answer to ``complete(_:)`` leaves it open.
        case askStatus
        /// The end: the host lists this device as connected.
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
    /// The host's clock minus ours; nil if it is not known.
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

    /// Takes the answer to the last action and returns the next one. An answer to another action ends the pairing with
    /// an error.
    ///
    /// - Parameter now: This machine's time.
    package mutating func handle(_ event: Event, now: Date) -> Action {
        switch (state, event) {
        case (.checkingHost, .health(let result, let clockOffset)):
            handleHealth(result, clockOffset: clockOffset, now: now)
        case (.completing, .completed(let result)): handleCompleted(result)
        case (.confirming(let reason), .status(let result)): handleStatus(result, reason: reason)
        default: fail(PairingError(.rejected, "internal error: unexpected pairing step"))
        }
    }

    private mutating func handleHealth(
        _ result: Result<CompanionHealthResponse, any Error>,
        clockOffset offset: Duration?,
        now: Date
    ) -> Action {
        switch result {
        case .failure(let error):
            return fail(PairingError(error))
        case .success(let health):
            guard health.isCompanion else {
                let name = health.service.map { "it calls itself “\($0)”" } ?? "it does not say what it is"
                return fail(PairingError(.wrongService, "the service there is not a companion host: \(name)"))
            }
            clockOffset = offset
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

    private mutating func handleCompleted(_ result: Result<CompanionStatusResponse, any Error>) -> Action {
        switch result {
        case .success(let status):
            return finish(with: status)
        case .failure(let error):
            if let final = refusal(error) { return fail(final) }
            // After a storage error or a lost answer, the device may be connected all the same.
            state = .confirming(PairingError(error))
            return .askStatus
        }
    }

    private mutating func handleStatus(
        _ result: Result<CompanionStatusResponse, any Error>,
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
                    "the host answered with another device (\(device.id), “\(device.name)”), not with this one "
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
    private func refusal(_ error: any Error) -> PairingError? {
        guard let error = error as? CompanionClientError else { return nil }
        if error.code == .unsupportedVersion { return PairingError(error) }
        if let code = error.hostCode { return code.rawValue.begins(with: "pairing.") ? PairingError(error) : nil }
        switch error.hostText {
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

    // MARK: Clocks

    /// An error if the QR code has expired by the host's clock, so that sending it is pointless.
    private func expiryError(now: Date) -> PairingError? {
        let hostTime = now.addingTimeInterval(clockOffset.map(\.seconds) ?? 0)
        guard let expired = payload.endError(hostTime: hostTime) else { return nil }
        if hasNotableSkew, !payload.hasEnded(at: now) {
            return PairingError(.clockSkew, "the code has expired by the host's clock; \(skewText)")
        }
        return expired
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
