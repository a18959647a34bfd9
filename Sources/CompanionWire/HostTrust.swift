/// How much is proven about a paired host.
package enum HostTrust: String, Codable, Sendable, Hashable, CaseIterable {
    /// Both sides proved that they know the code or token, and the TLS key is pinned (protocol v2).
    case verified
    /// Plain HTTP with nothing proven on either side (protocol v1, deployed Macs).
    case legacy
}
