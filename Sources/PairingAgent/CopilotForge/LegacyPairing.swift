package import CompanionClient
package import CompanionWire
package import FoundationEssentials
package import Identity

/// Pairs this device with one host by protocol v1: drives a ``PairingStateMachine`` over a client of the host.
package struct LegacyPairing: Sendable {
    private let identity: DeviceIdentity
    private let deviceName: String
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - deviceName: The name for this device in the host's list.
    ///   - now: This machine's clock.
    package init(identity: DeviceIdentity, deviceName: String, now: @escaping @Sendable () -> Date = { Date() }) {
        self.identity = identity
        self.deviceName = deviceName
        self.now = now
    }

    /// The result of a pairing.
    package struct Outcome: Sendable, Hashable {
        /// This device as the host lists it.
        package var device: ConnectedCompanionDevice
        /// The host's clock minus this machine's; nil if the host did not send its time.
        package var clockOffset: Duration?
    }

    /// Pairs with the client's host. The code and token are sent to no other host.
    ///
    /// - Parameter payload: The code, with token and expiry if it came from a QR code.
    /// - Throws: ``PairingError``. Nothing is stored, so that a retry is possible.
    package func pair(
        _ payload: PairingPayload,
        over client: CompanionAPIClient
    ) async throws(PairingError) -> Outcome {
        var machine = PairingStateMachine(payload: payload, deviceName: deviceName, identity: identity)
        var action = machine.start()
        while true {
            let event: PairingStateMachine.Event
            switch action {
            case .askHealth:
                event = .health(await Self.result(client.health), clockOffset: client.clockOffset)
            case .complete(let request):
                event = .completed(await Self.result { try await client.completePairing(request) })
            case .askStatus:
                event = .status(await Self.result(client.status))
            case .succeed(let device):
                return Outcome(device: device, clockOffset: machine.clockOffset)
            case .fail(let error):
                throw error
            }
            action = machine.handle(event, now: now())
        }
    }

    private static func result<Value>(_ body: () async throws -> Value) async -> Result<Value, any Error> {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
