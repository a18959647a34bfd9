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
        try await CompanionAPIClient.withClient(endpoint: endpoint) { #expect($0.endpoint == endpoint) }
    }

    @Test func `a zone goes to the connection, not into the URL`() throws {
        let endpoint = try #require(CompanionEndpoint("[fe80::1%eth0]:7878"))
        #expect(endpoint.origin == "http://[fe80::1]:7878")
        #expect(endpoint.nameOverrides == ["[fe80::1]": "fe80::1%eth0"])
        #expect(CompanionEndpoint("127.0.0.1")?.nameOverrides.isEmpty == true)
    }

    @Test func `IPv6 loopback works`() async throws {
        try await withFakeMac(address: "::1") { mac in
            try await mac.withClient { client async throws in
                #expect(try await client.health().isCompanion)
                #expect(mac.requests.first?.header("Host") == "[::1]:\(mac.port)")
            }
        }
    }

    /// Addresses of this machine that need a zone.
    static let scoped: [String] = ((try? System.enumerateDevices()) ?? []).compactMap { device in
        guard case .v6 = device.address, let text = device.address?.ipAddress, let address = IPAddress(text) else {
            return nil
        }
        return address.scope == .linkLocal ? "\(text.prefix { $0 != "%" })%\(device.name)" : nil
    }

    @Test(.enabled(if: !scoped.isEmpty, "no interface has a link-local IPv6 address"))
    func `a link-local address with its zone works`() async throws {
        let address = try #require(Self.scoped.first)
        try await withFakeMac(address: address) { mac in
            try await mac.withClient { client async throws in
                #expect(try await client.health().isCompanion)
                let host = try #require(mac.requests.first?.header("Host"))
                #expect(!host.contains("%"))
                #expect(host.hasPrefix("[fe80:"))
            }
        }
    }
}
