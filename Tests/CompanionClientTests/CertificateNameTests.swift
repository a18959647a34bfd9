import CompanionTestSupport
import CompanionWire
import NIOSSL
import Testing

@testable import CompanionClient
@testable import Providers

@Suite struct CertificateNameTests {
    @Test("A certificate for another name is a failed handshake: nothing was sent, and nothing is sent again")
    func transport() throws {
        for error in [NIOSSLExtraError.failedToValidateHostname, .serverHostnameImpossibleToMatch] {
            let mapped = try #require(
                CompanionClientError.transport(
                    error,
                    endpoint: "https://jarvis.example.com",
                    answered: false,
                    timeouts: CompanionClientConfiguration.default.timeouts
                ) as? CompanionClientError
            )
            #expect(mapped.code == .notACompanion && mapped.delivery == .notSent)
        }
    }

    @Test("A provider whose certificate is for another name could not prove who it is")
    func provider() async throws {
        let url = try ProviderURL("https://api.example.com/v1", provider: .openai)
        let endpoint = ProviderEndpoint(provider: .openai, url: url, key: nil)
        try await ProviderClient.withClient { client in
            let error = try #require(
                client.unanswered(NIOSSLExtraError.failedToValidateHostname, at: endpoint) as? ProviderError
            )
            #expect(error.code == .unreachable && error.message.contains("certificate"))
        }
    }
}
