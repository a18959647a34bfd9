/// The two implementations of mDNS that pairtool works with.
package enum DiscoveryEngineKind: String, Codable, Sendable, Hashable, CaseIterable {
    /// The machine's Avahi daemon, spoken to over D-Bus.
    case daemon
    /// An mDNS responder inside this process: needs neither D-Bus nor root.
    case embedded
}

/// Which engine the user wishes for.
package enum DiscoveryEngineChoice: String, Sendable, Hashable, CaseIterable {
    /// The daemon where one answers, else the embedded engine.
    case auto
    case daemon
    case embedded
}
