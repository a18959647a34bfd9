import CompanionWire
import PairingAgent

/// What a pairing with a host of another family than CopilotForge is given.
struct FamilyPairing: Sendable {
    let target: PairingTarget
    let identity: DeviceIdentity
    let deviceName: String
    /// Six digits, where they came with the command, for Lumi hosts of the second generation.
    let code: String?
    /// The token of an AICLI server, where it came with the command.
    let token: String?
    let output: Output
    /// What the TLS key of an AICLI server is, where the user said so.
    var pin: CertificatePin?
    /// The second base URL of a Jarvis daemon.
    var fallbackURL: String?

    func run() async throws {
        switch target.family {
        case .copilotforge: preconditionFailure("CopilotForge hosts have a pairing of their own")
        case .jarvis: try await JarvisPairing(self).run()
        case .aicli: try await AICLIPairing(self).run()
        case .lumi: try await LumiPairing(self).run()
        }
    }
}
