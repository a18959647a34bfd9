import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent

/// A pairing with a Lumi host: it is asked for its consent once, and put on record. There is nothing to prove
/// (trust: legacy), and each later connection is asked for anew.
struct LumiPairing: Sendable {
    let target: PairingTarget
    let identity: DeviceIdentity
    let deviceName: String
    /// Six digits that came with the command, for hosts of the second generation.
    let code: String?
    let output: Output

    func run() async throws {
        let (endpoint, generation) = try await accept()
        let now = output.context.now()
        var host = PairedHost(
            id: target.id,
            name: target.name,
            family: .lumi,
            trust: .legacy,
            endpoint: endpoint,
            deviceID: identity.deviceID,
            pairedAt: now,
            lastSeenAt: now
        )
        host.deviceName = deviceName
        try PairingRecord(output: output).keep(host, as: deviceName) { hosts in
            target.record(in: hosts).flatMap { $0.family == .lumi ? $0 : nil }
        }
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
                        deviceName: deviceName,
                        code: code,
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
