package import CompanionClient
internal import CompanionWire
internal import Identity

/// Pairs with a Lumi host: asks its user once and stores the host. The host proves no identity (trust: legacy), and its
/// user is asked again for each later connection.
package struct LumiPairing: Sendable {
    private let target: PairingTarget
    private let device: PairingDevice
    private let clock: any Clock<Duration>

    /// - Parameter clock: Passes the time between two questions to the host.
    package init(target: PairingTarget, device: PairingDevice, clock: any Clock<Duration> = ContinuousClock()) {
        self.target = target
        self.device = device
        self.clock = clock
    }

    /// Pairs at the first of the target's addresses that responds.
    ///
    /// - Parameters:
    ///   - accept: Waits until the host's user accepts the connection.
    ///   - paired: Gets the result.
    /// - Returns: The generation that `accept` returned.
    /// - Throws: ``PairingError``, `CompanionClientError`, `RecordFileError`; the errors of `accept`.
    package func run(
        accept: (LumiClient) async throws -> LumiGeneration,
        paired: (PairingOutcome) -> Void
    ) async throws -> LumiGeneration {
        var failure: CompanionClientError?
        for endpoint in target.endpoints {
            do {
                return try await LumiClient.withClient(
                    endpoint: endpoint,
                    clock: clock,
                    logger: device.logger("lumi")
                ) { client in
                    let generation = try await accept(client)
                    var host = target.legacyRecord(at: endpoint, of: device)
                    host.deviceName = device.name
                    paired(try device.store(host, replacing: target.record))
                    return generation
                }
            } catch let error as CompanionClientError where error.delivery == .notSent {
                // The host did not ask its user.
                failure = error
            }
        }
        if let failure { throw failure }
        throw PairingError(.unreachable, "no address of \(target.name) is known")
    }
}
