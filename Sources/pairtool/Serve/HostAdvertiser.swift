import Discovery

/// Advertises a host on the network.
struct HostAdvertiser: Sendable {
    let client: CompanionDiscoveryClient
    let name: String
    /// 16 hex digits.
    let id: String
    /// Whether the host also serves devices that use protocol v1.
    let isLegacy: Bool

    /// Advertises until it is cancelled, then sends a goodbye.
    ///
    /// Both service types carry the same TXT record (companion-v2, Ports and advertisements). Clients treat its values
    /// as hints only.
    func run(port: Int, tlsPort: Int, _ report: @escaping @Sendable (AdvertisementEvent) async -> Void) async throws {
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
