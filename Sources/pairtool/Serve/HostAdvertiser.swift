import Discovery

/// Puts a host on the network.
struct HostAdvertiser: Sendable {
    let client: CompanionDiscoveryClient
    let name: String
    /// 16 hex digits.
    let id: String
    /// Whether devices of protocol 1 are served.
    let isLegacy: Bool

    /// Advertises until it is cancelled, which sends the goodbye.
    ///
    /// Both types carry the same TXT record (companion-v2, Ports and advertisements), all of it hints.
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
