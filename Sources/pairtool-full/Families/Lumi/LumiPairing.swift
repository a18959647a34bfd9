import CommandCore
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent

/// A pairing with a Lumi host: it is asked for its consent once, and put on record. There is nothing to prove
/// (trust: legacy), and each later connection is asked for anew.
struct LumiPairing: Sendable {
    private let pairing: FamilyPairing

    init(_ pairing: FamilyPairing) {
        self.pairing = pairing
    }

    private var target: PairingTarget { pairing.target }
    private var output: Output { pairing.output }

    func run() async throws {
        let (endpoint, generation) = try await accept()
        var host = target.legacyRecord(
            at: endpoint,
            deviceID: pairing.identity.deviceID,
            now: output.context.now()
        )
        host.deviceName = pairing.deviceName
        try PairingRecord(output: output).keep(host, as: pairing.deviceName, replacing: target.record)
        if generation == .open {
            output.say("It takes anybody's commands, and has nothing to sync: the app there is an old one.")
        }
    }

    /// Asks at the first of the target's addresses that answers.
    private func accept() async throws -> (CompanionEndpoint, LumiGeneration) {
        var failure: CompanionClientError?
        for endpoint in target.endpoints {
            do {
                return try await LumiClient.withClient(
                    endpoint: endpoint,
                    clock: output.context.clock,
                    logger: LoggingSetup.logger("lumi", context: output.context)
                ) { client in
                    let reception = LumiReception(
                        hostName: target.name,
                        deviceName: pairing.deviceName,
                        code: pairing.code,
                        output: output
                    )
                    return (endpoint, try await reception.accept(client))
                }
            } catch let error as CompanionClientError where error.delivery == .notSent {
                // Nobody was asked there.
                failure = error
            }
        }
        throw failure
            ?? CommandError(.unreachable, "host.unreachable", "\(target.name) advertises no address to connect to")
    }
}
