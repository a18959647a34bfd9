package import Discovery

/// Advertises a host on the network.
package struct HostAdvertiser: Sendable {
    private let client: CompanionDiscoveryClient
    private let name: String
    /// 16 hex digits.
    private let id: String
    /// Whether the host also serves devices that use protocol v1.
    private let isLegacy: Bool

    package init(client: CompanionDiscoveryClient, name: String, id: String, isLegacy: Bool) {
        (self.client, self.name, self.id, self.isLegacy) = (client, name, id, isLegacy)
    }

    /// Advertises until it is cancelled, then sends a goodbye.
    ///
    /// Both service types carry the same TXT record (companion-v2, Ports and advertisements). Clients treat its values
    /// as hints only.
    ///
    /// - Throws: `DiscoveryError`.
    package func run(
        port: Int,
        tlsPort: Int,
        _ report: @escaping @Sendable (AdvertisementEvent) async -> Void
    ) async throws {
        let txt = [("v", "2"), ("id", id), ("tls", "\(tlsPort)"), ("legacy", isLegacy ? "1" : "0"), ("name", name)]
        let advertisement = Advertisement(
            name: name,
            services: [
                (type: .companion, port: port, txt: txt), (type: .companionShort, port: tlsPort, txt: txt),
            ]
        )
        try await client.withAdvertisement(advertisement) { events in
            for await event in events { await report(event) }
        }
    }
}
