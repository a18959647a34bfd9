import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity

/// Pairs with a Lumi host: asks its user once and stores the host. The host proves no identity (trust: legacy), and its
/// user is asked again for each later connection.
struct LumiPairing: Sendable {
    private let pairing: FamilyPairing

    init(_ pairing: FamilyPairing) {
        self.pairing = pairing
    }

    private var target: PairingTarget { pairing.target }
    private var output: Output { pairing.output }

    func run() async throws {
        // If the host was paired before, its kept connection is replaced by the new one.
        if let record = target.record(in: pairing.known) { HeldConnection(record, output.context).end() }
        if try await accept() == .open { output.say("This host does not ask its user about connections.") }
    }

    /// Stores the host and keeps the connection open for the first command.
    private func record(_ endpoint: CompanionEndpoint, _ client: LumiClient) async throws {
        var host = target.legacyRecord(
            at: endpoint,
            deviceID: pairing.identity.deviceID,
            now: output.context.now()
        )
        host.deviceName = pairing.deviceName
        let record = PairingRecord(output: output)
        let outcome = try record.store(host, as: pairing.deviceName, replacing: target.record)
        record.show(outcome)
        await HeldConnection(outcome.host, output.context).keep(client, output)
    }

    /// Asks at the first of the target's addresses that responds.
    private func accept() async throws -> LumiGeneration {
        var failure: CompanionClientError?
        for endpoint in target.endpoints {
            do {
                return try await LumiClient.withClient(
                    endpoint: endpoint,
                    clock: output.context.clock,
                    logger: LoggingSetup.logger("lumi", context: output.context)
                ) { client in
                    let approval = LumiConnectionApproval(
                        hostName: target.name,
                        deviceName: pairing.deviceName,
                        code: pairing.payload?.code,
                        output: output
                    )
                    let generation = try await approval.accept(client)
                    try await record(endpoint, client)
                    return generation
                }
            } catch let error as CompanionClientError where error.delivery == .notSent {
                // The host did not ask its user.
                failure = error
            }
        }
        throw failure
            ?? CommandError(.unreachable, "host.unreachable", "\(target.name) advertises no address to connect to")
    }
}
