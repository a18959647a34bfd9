import Discovery

/// Puts a host on the network.
struct HostAdvertiser: Sendable {
    let client: CompanionDiscoveryClient
    let name: String
    /// 16 hex digits.
    let id: String

    /// Advertises until it is cancelled, which sends the goodbye.
    func run(port: Int, _ report: @escaping @Sendable (AdvertisementEvent) async -> Void) async throws {
        let advertisement = Advertisement(
            name: name,
            services: [(type: .companion, port: port, txt: [("v", "1"), ("id", id), ("legacy", "1"), ("name", name)])]
        )
        try await client.withAdvertisement(advertisement) { events in
            for await event in events { await report(event) }
        }
    }
}
