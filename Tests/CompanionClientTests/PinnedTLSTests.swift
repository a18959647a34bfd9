import CompanionClient
import CompanionTestSupport
import CompanionWire
import NIOSSL
import Testing

@Suite struct PinnedTLSTests {
    @Test("The certificate of a host is fetched, and its pin is that of its key")
    func fetch() async throws {
        try await withTLSTestHost { _, _ in
            []
        } _: { host in
            let shown = try await PinnedTLS.certificate(of: host.endpoint, expecting: nil)
            #expect(shown.der == host.certificate.der)
            #expect(shown.spki == host.certificate.spki)
            let again = try await PinnedTLS.certificate(of: host.endpoint, expecting: host.certificate.spki)
            #expect(again == shown)
            #expect(host.requests.isEmpty)
        }
    }

    @Test("Another key than the expected one is an error that names both pins, and nothing is sent")
    func mismatch() async throws {
        let expected = try TestCertificate()
        try await withTLSTestHost { _, _ in
            [.json(200, "{}")]
        } _: { host in
            let fetching = try await clientError {
                try await PinnedTLS.certificate(of: host.endpoint, expecting: expected.spki)
            }
            let pinned = try PinnedCertificate(der: expected.der)
            let asking = try await clientError {
                try await CompanionAPIClient.withClient(
                    endpoint: host.endpoint,
                    security: .pinned(pinned),
                    credentials: StubCredentials(token: "secret")
                ) { try await $0.projects() }
            }
            for error in [fetching, asking] {
                #expect(error.code == .pinMismatch)
                #expect(error.delivery == .notSent)
                #expect(error.message.contains(expected.spki))
                #expect(error.message.contains(host.certificate.spki))
            }
            #expect(host.requests.isEmpty)
        }
    }

    @Test("A host that speaks no TLS, or only an old one, is none of ours")
    func noTLS() async throws {
        try await withFakeMac { mac in
            let error = try await clientError {
                try await PinnedTLS.certificate(of: mac.endpoint, expecting: nil)
            }
            // It hangs up on what is no HTTP, as a tunnel does whose other end is away.
            #expect(error.code == .unreachable && error.delivery == .notSent)
            #expect(mac.requests.isEmpty)
        }
        try await withTLSTestHost(version: .tlsv12) { _, _ in
            []
        } _: { host in
            let error = try await clientError {
                try await PinnedTLS.certificate(of: host.endpoint, expecting: nil)
            }
            #expect(error.code == .notACompanion)
        }
    }

    @Test("Where nothing listens, the host is unreachable; a public address is refused")
    func unreachable() async throws {
        let off = try await withClosedPort { endpoint in
            try await clientError { try await PinnedTLS.certificate(of: endpoint, expecting: nil) }
        }
        #expect(off.code == .unreachable)
        let foreign = try #require(CompanionEndpoint("8.8.8.8:443"))
        let refused = try await clientError { try await PinnedTLS.certificate(of: foreign, expecting: nil) }
        #expect(refused.code == .refusedAddress)
    }

    @Test("Pinned requests say the version and carry the token; over plain HTTP neither goes out")
    func headers() async throws {
        try await withTLSTestHost { _, _ in
            [.json(200, #"{"ok":true,"projects":[]}"#)]
        } _: { host in
            try await host.withClient(StubCredentials(token: "t-1")) { _ = try await $0.projects() }
            let request = try #require(host.requests.first)
            #expect(request.header("Authorization") == "Bearer t-1")
            #expect(request.header(ProtocolVersion.header) == "2")
        }
        try await withFakeMac { mac in
            try await CompanionAPIClient.withClient(
                endpoint: mac.endpoint,
                security: .plain,
                credentials: StubCredentials(token: "t-1")
            ) { _ = try await $0.projects() }
            let request = try #require(mac.requests.first)
            #expect(request.header("Authorization") == nil)
            #expect(request.header(ProtocolVersion.header) == nil)
        }
    }
}
