import CompanionTestSupport
import CompanionWire
import NIOCore
import Testing

@testable import CompanionClient

@Suite struct AddressTests {
    @Test(arguments: [
        "8.8.8.8", "[2001:db8::1]", "[::ffff:8.8.8.8]", "0.0.0.0", "224.0.0.251", "192.0.2.1:80", "[fe80::1]",
    ])
    func `an address that is not local is refused before a client is made`(_ text: String) async throws {
        let endpoint = try #require(CompanionEndpoint(text))
        let error = try await clientError {
            try await CompanionAPIClient.withClient(endpoint: endpoint) { _ in Issue.record("a client was made") }
        }
        #expect(error.code == .refusedAddress)
        #expect(error.delivery == .notSent)
    }

    @Test(arguments: ["127.0.0.1", "10.1.2.3", "100.64.0.1", "169.254.1.1", "[fd00::1]", "[::1]", "[fe80::1%eth0]"])
    func `local addresses are taken`(_ text: String) async throws {
        let endpoint = try #require(CompanionEndpoint(text))
        try await CompanionAPIClient.withClient(endpoint: endpoint) { #expect("\($0.target)" == "\(endpoint)") }
    }

    @Test func `a zone goes to the connection, not into the URL`() throws {
        let endpoint = try #require(CompanionEndpoint("[fe80::1%eth0]:7878"))
        #expect(endpoint.authority == "[fe80::1]:7878")
        #expect(endpoint.nameOverrides == ["[fe80::1]": "fe80::1%eth0"])
        #expect(CompanionEndpoint("127.0.0.1")?.nameOverrides.isEmpty == true)
    }

    static let hasIPv6Loopback = ((try? System.enumerateDevices()) ?? []).contains { $0.address?.ipAddress == "::1" }

    @Test(.enabled(if: hasIPv6Loopback, "this machine has no IPv6 loopback address"))
    func `IPv6 loopback works`() async throws {
        try await withFakeMac(address: "::1") { mac in
            try await mac.withClient { client async throws in
                #expect(try await client.health().isCompanion)
                #expect(mac.requests.first?.header("Host") == "[::1]:\(mac.port)")
            }
        }
    }
}
