package import CompanionWire
package import FoundationEssentials
package import Identity

/// Pairs this device with one host: drives a ``PairingStateMachine`` over a transport.
package struct PairingAgent: Sendable {
    package let identity: DeviceIdentity
    private let now: @Sendable () -> Date

    /// - Parameter now: This machine's clock.
    package init(identity: DeviceIdentity, now: @escaping @Sendable () -> Date = { Date() }) {
        self.identity = identity
        self.now = now
    }

    /// The result of a pairing.
    package struct Outcome: Sendable, Hashable {
        /// This device as the host lists it.
        package var device: ConnectedCompanionDevice
        /// The host's clock minus this machine's; nil if the host did not send its time.
        package var clockOffset: Duration?
    }

    /// Pairs with the host behind a transport. The code and token are sent to no other host.
    ///
    /// - Parameters:
    ///   - payload: The code, with token and expiry if it came from a QR code.
    ///   - deviceName: The name for this device in the host's list.
    /// - Throws: ``PairingError``. Nothing is stored, so that a retry is possible.
    package func pair(
        _ payload: PairingPayload,
        deviceName: String,
        over transport: some PairingTransport
    ) async throws(PairingError) -> Outcome {
        var machine = PairingStateMachine(payload: payload, deviceName: deviceName, identity: identity)
        var action = machine.start()
        while true {
            let event: PairingStateMachine.Event
            switch action {
            case .askHealth:
                event = .health(await Self.result(transport.pairingHealth))
            case .complete(let request):
                event = .completed(
                    await Self.result { () throws(PairingTransportError) in
                        try await transport.pairingComplete(request)
                    }
                )
            case .askStatus:
                event = .status(await Self.result(transport.pairingStatus))
            case .succeed(let device):
                return Outcome(device: device, clockOffset: machine.clockOffset)
            case .fail(let error):
                throw error
            }
            action = machine.handle(event, now: now())
        }
    }

    private static func result<Value>(
        _ body: () async throws(PairingTransportError) -> Value
    ) async -> Result<Value, PairingTransportError> {
        do throws(PairingTransportError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
