import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Logging
import NIOConcurrencyHelpers
import PairingAgent
import Testing

/// Pairing with a whole fake AICLI server.
@Suite struct AICLIPairingTests {
    /// What a user who is asked answers.
    private struct Answers: Sendable {
        var tokens: [String] = []
        var isKeyRight = true
        var pin: CertificatePin?
    }

    /// Runs a pairing with a data directory of its own.
    ///
    /// - Returns: What came of it, the hosts that are recorded, and the questions for a token (whether repeated).
    private func pair(
        with server: FakeAICLI,
        _ answers: Answers
    ) async throws -> (result: Result<PairingOutcome, any Error>, hosts: [PairedHost], questions: [Bool]) {
        let data = FileManager.default.temporaryDirectory.path + "/pairing-tests-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: data) }
        let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let device = PairingDevice(
            identity: try .sample(),
            name: "desk",
            data: data,
            tunnels: Tunnel.Settings(directory: data, keys: data, logger: quiet),
            now: { Date() },
            logger: { _ in quiet }
        )
        let endpoint = try #require(CompanionEndpoint(server.endpointText))
        let questions = NIOLockedValueBox<[Bool]>([])
        let pairing = AICLIPairing(
            target: PairingTarget(endpoint: endpoint, family: .aicli, isSecure: server.certificate != nil),
            device: device,
            token: nil,
            pin: answers.pin,
            confirmKey: { _ in if !answers.isKeyRight { throw CancellationError() } },
            askToken: { isRepeated in
                let count = questions.withLockedValue { questions in
                    questions.append(isRepeated)
                    return questions.count
                }
                guard count <= answers.tokens.count else { throw CancellationError() }
                return answers.tokens[count - 1]
            }
        )
        let result: Result<PairingOutcome, any Error>
        do { result = .success(try await pairing.run()) } catch { result = .failure(error) }
        return (result, try PairedHostStore(directory: data).load().hosts, questions.withLockedValue { $0 })
    }

    @Test("The token is asked for again until the server takes it")
    func again() async throws {
        try await withFakeAICLI { server in
            let token = try #require(server.token)
            let (result, hosts, questions) = try await pair(with: server, Answers(tokens: ["wrong", token]))
            #expect(try result.get().host.id == hosts.first?.id)
            #expect(hosts.map(\.trust) == [.legacy])
            #expect(questions == [false, true])
        }
    }

    @Test("After three wrong tokens nothing is stored")
    func refused() async throws {
        try await withFakeAICLI { server in
            let end = try await pair(with: server, Answers(tokens: ["wrong", "not one", "wrong"]))
            #expect(throws: PairingError.self) { try end.result.get() }
            #expect(end.hosts.isEmpty)
            #expect(end.questions == [false, true, true])
        }
    }

    @Test("A server whose key the user does not confirm gets no request, nor does one with another key than given")
    func key() async throws {
        try await withFakeAICLI(certificate: TestCertificate()) { server in
            let unknown = try await pair(with: server, Answers(isKeyRight: false))
            #expect(throws: CancellationError.self) { try unknown.result.get() }
            let pin = try #require(CertificatePin("sha256:" + Base64URL.encode([UInt8](repeating: 1, count: 32))))
            let other = try await pair(with: server, Answers(pin: pin))
            #expect(throws: CompanionClientError.self) { try other.result.get() }
            #expect(server.requests.isEmpty && unknown.hosts.isEmpty && other.hosts.isEmpty)
        }
    }
}
