/// The kinds of machine that host an AI coding assistant and that pairtool can speak to.
package enum HostFamily: String, Codable, Sendable, Hashable, CaseIterable {
    case copilotforge
    case lumi
    case aicli
    case jarvis

    /// The name as its makers write it.
    package var displayName: String {
        switch self {
        case .copilotforge: "CopilotForge"
        case .lumi: "Lumi"
        case .aicli: "AICLI"
        case .jarvis: "Jarvis"
        }
    }
}
