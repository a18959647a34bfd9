import CompanionClient
import CompanionWire
import PairingAgent

extension HostFamily {
    /// The port that hosts of the family listen on, if none is named.
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

    /// How to pair with a host of the family. Jarvis daemons do not advertise themselves.
    var pairCommand: String {
        switch self {
        case .copilotforge: "pairtool pair"
        // Where hosts of CopilotForge are in sight, a pairing is with those, unless another one is named.
        case .lumi, .aicli: "pairtool pair NAME, as pairtool discover shows it"
        case .jarvis: pairCommand(at: "http://127.0.0.1:\(usualPort)")
        }
    }

    /// How to pair with the host of the family at an address.
    ///
    /// - Parameter url: As `pair --url` takes it.
    func pairCommand(at url: String) -> String {
        "pairtool pair " + (self == .copilotforge ? "" : "--family \(rawValue) ") + "--url \(url)"
    }

    /// What to do first with a host.
    var firstCommand: String {
        switch self {
        case .copilotforge, .aicli: "pairtool projects"
        case .lumi: "pairtool lumi sync"
        case .jarvis: "pairtool approvals"
        }
    }
}

extension PairedHost {
    /// Its address, as `pair --url` takes it.
    var url: String { "\(spki == nil ? "http" : "https")://\(endpoint)" }

    /// Removes all that is kept of the host besides its record.
    func forgetBelongings(_ context: CommandContext) throws {
        switch family {
        case .copilotforge: try SessionTokenStore(directory: context.paths.data).forget(hostID: id)
        case .lumi: try LumiSessions.forget(self, context: context)
        case .aicli: try AICLISessions.forget(self, context: context)
        case .jarvis: try JarvisSessions.forget(self, context: context)
        }
    }
}
