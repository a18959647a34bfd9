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
    /// - Parameter accept: Waits until the host's user accepts the connection.
    /// - Throws: ``PairingError``, `CompanionClientError`, `RecordFileError`; the errors of `accept`.
    package func run(accept: (LumiClient) async throws -> LumiGeneration) async throws -> PairingOutcome {
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
                    var outcome = try device.store(host, replacing: target.record)
                    if generation == .open {
                        outcome.notes.append("This host does not ask its user about connections.")
                    }
                    return outcome
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
