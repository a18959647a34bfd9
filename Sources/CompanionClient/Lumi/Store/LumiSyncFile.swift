/// The files that a Mac's Lumi gives to its companions: these names and no others are asked for, and no name of a peer
/// ever becomes a path (lumi, "Sync files" and "Guards").
package enum LumiSyncFile: String, CaseIterable, Sendable, Hashable {
    case agents = "agents.json"
    case conversations = "conversations.json"
    case automations = "automations.json"
    case settings = "sync_settings.json"
    case apiKeys = "sync_api_keys.json"
    /// Newer Macs only.
    case health = "health_data.json"

    /// On the wire and on the disk.
    package var name: String { rawValue }

    /// Whether keys of services may be in it, in clear text: it is pulled on request only.
    package var holdsSecrets: Bool {
        switch self {
        case .settings, .apiKeys: true
        case .agents, .conversations, .automations, .health: false
        }
    }
}
