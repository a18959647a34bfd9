/// The kinds of machine that host an AI coding assistant and that pairtool can speak to.
package enum HostFamily: String, Codable, Sendable, Hashable, CaseIterable {
    case copilotforge
    case lumi
    case aicli
    case jarvis

    /// The family where nothing names one: that of `pairtool host`.
    package static let usual = HostFamily.copilotforge
    package var isUsual: Bool { self == .usual }

    /// The name as its makers write it.
    package var displayName: String {
        switch self {
        case .copilotforge: "CopilotForge"
        case .lumi: "Lumi"
        case .aicli: "AICLI"
        case .jarvis: "Jarvis"
        }
    }

    /// The name of what runs on the machine: `pairtool host` is of CopilotForge's family, and tells itself from a Mac by
    /// protocol 2.
    ///
    /// - Parameter speaksV2: Whether the host speaks protocol 2.
    package func programName(speaksV2: Bool) -> String {
        isUsual && speaksV2 ? "pairtool" : displayName
    }
}

/// How much is proven about a paired host.
package enum HostTrust: String, Codable, Sendable, Hashable, CaseIterable {
    /// Both sides proved that they know the code or token, and the TLS key is pinned (protocol v2).
    case verified
    /// Plain HTTP with nothing proven on either side (protocol v1, deployed Macs).
    case legacy
}
