import CompanionClient
import CompanionHost
import CompanionWire
import NIOConcurrencyHelpers
import NIOSSL
import Testing

@Suite("A live feed on which nothing comes", .timeLimit(.minutes(15)))
struct LiveSilenceTests {
    @Test("A host that is silent for longer than was agreed counts as gone, though nobody has closed the connection")
    func silence() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let heard = NIOLockedValueBox<[String]>([])
            try await CompanionAPIClient.withClient(
                endpoint: CompanionEndpoint(address: try #require(IPAddress("127.0.0.1")), port: host.tlsPort),
                security: .pinned(PinnedCertificate(der: try host.certificate.toDERBytes())),
                credentials: Credentials(device, clock: TestClock()),
                // Hosts ping every 20 s: without its limit, this would go on for ever.
                configuration: CompanionClientConfiguration(timeouts: .init(silence: .seconds(15)))
            ) { client in
                try await LiveEventStream(client: client, patience: 0).run { output in
                    let text =
                        switch output {
                        case .event(let event): event.type.rawValue
                        case .interrupted: "interrupted"
                        case .resumed: "resumed"
                        }
                    heard.withLockedValue { $0.append(text) }
                }
            }
            #expect(heard.withLockedValue { [$0.first, $0.last] } == ["hello", "interrupted"])
        }
    }
}
