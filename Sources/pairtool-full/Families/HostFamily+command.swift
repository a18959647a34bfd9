import CommandCore
import CompanionClient
import CompanionWire
import PairingAgent

extension HostFamily {
    /// The port that hosts of the family listen on, where none is named.
    var usualPort: Int {
        switch self {
        case .copilotforge: CompanionEndpoint.defaultPort
        case .lumi: LumiConfiguration.port
        case .aicli: AICLIPayload.defaultPort
        case .jarvis: JarvisBase.defaultPort
        }
    }

    /// Whether legacy hosts of the family speak HTTP, rather than a protocol of their own on TCP.
    var speaksHTTP: Bool { self != .lumi }

    /// How to begin with a host of the family. Daemons of Jarvis are not found by themselves.
    var pairCommand: String {
        switch self {
        case .copilotforge, .lumi, .aicli: "pairtool pair"
        case .jarvis: "pairtool pair --family jarvis --url http://127.0.0.1:\(usualPort)"
        }
    }

    /// What to do first with a host.
    var firstCommand: String {
        switch self {
        case .copilotforge, .aicli: "pairtool projects"
        case .lumi: "pairtool sync"
        case .jarvis: "pairtool approvals"
        }
    }
}

extension PairedHost {
    /// Removes all that is kept of the host besides its record.
    func forgetBelongings(_ context: CommandContext) throws {
        switch family {
        case .copilotforge: try SessionTokenStore(directory: context.paths.data).forget(hostID: id)
        case .lumi: try LumiSessions.forget(self, context: context)
        case .aicli: try AICLISessions.forget(self, context: context)
        case .jarvis: break
        }
    }
}
