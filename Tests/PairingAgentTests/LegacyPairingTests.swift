import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Testing

/// Pairing by protocol v1 with a whole fake host.
@Suite struct LegacyPairingTests {
    private let identity: DeviceIdentity
    /// With a challenge, and nobody connected.
    private var script = FakeMacScript()

    init() throws {
        identity = try .sample()
        script.isPaired = false
    }

    private func pair(
        code: String? = nil,
        token: String? = nil,
        with mac: FakeMac
    ) async throws -> LegacyPairing.Outcome {
        let payload = PairingPayload(code: code ?? script.code, token: token ?? script.token, expiresAt: nil)
        let endpoint = try #require(CompanionEndpoint(mac.endpointText))
        return try await CompanionAPIClient.withClient(endpoint: endpoint) { client in
            try await LegacyPairing(identity: identity, deviceName: "desk").pair(payload, over: client)
        }
    }

    private func failure(code: String? = nil, token: String? = nil, with mac: FakeMac) async -> PairingError.Code? {
        await #expect(throws: PairingError.self) { try await pair(code: code, token: token, with: mac) }?.code
    }

    @Test("Code, token, name and key are sent once, and the device that comes back is ours")
    func success() async throws {
        var script = script
        script.clockSkew = .seconds(600)
        try await withFakeMac(script) { mac in
            let outcome = try await pair(with: mac)
            #expect(outcome.device.id == identity.deviceID)
            let offset = try #require(outcome.clockOffset)
            #expect(offset > .seconds(500) && offset < .seconds(700))
            #expect(mac.requests.map(\.path) == ["/health", "/companion/pairing/complete"])
            let body = try CanonicalJSON(parsing: try #require(mac.requests.last).body)
            #expect(body["pairingCode"]?.string == script.code)
            #expect(body["pairingToken"]?.string == script.token)
            #expect(body["deviceName"]?.string == "desk")
            #expect(body["devicePublicKey"]?.string == identity.publicKeyText)
        }
    }

    @Test("Each refusal of a host has its own error")
    func refusals() async throws {
        try await withFakeMac(script) { mac in
            #expect(await failure(code: "000000", with: mac) == .wrongCode)
            #expect(await failure(token: "older", with: mac) == .wrongToken)
        }
        for (text, code) in [
            (CompanionErrorResponse.Text.pairingExpired, PairingError.Code.expired),
            (CompanionErrorResponse.Text.missingPublicKey, .rejected), ("disk is full", .rejected),
        ] {
            var script = script
            script.faults = [
                FakeMacFault(.json(status: 400, #"{"ok":false,"error":"\#(text)"}"#), on: "/companion/pairing")
            ]
            try await withFakeMac(script) { #expect(await failure(with: $0) == code) }
        }
        var script = script
        script.hasChallenge = false
        try await withFakeMac(script) { #expect(await failure(with: $0) == .noChallenge) }
    }

    @Test("A service that is no companion, and a host that breaks the connection, never get the code")
    func notSent() async throws {
        for (kind, code) in [
            (FakeMacFault.Kind.json(status: 200, #"{"ok":true,"service":"printer"}"#), PairingError.Code.wrongService),
            (.page(status: 404), .wrongService), (.reset, .unreachable),
        ] {
            var script = script
            script.faults = [FakeMacFault(kind, on: "/health")]
            try await withFakeMac(script) { mac in
                #expect(await failure(with: mac) == code)
                #expect(mac.requests("POST", "/companion/pairing/complete").isEmpty)
            }
        }
    }

    @Test("A host that failed after it connected this device has paired; one that connected another has not")
    func status() async throws {
        var script = script
        script.completeAnswer = .storageFault
        try await withFakeMac(script) { mac in
            let outcome = try await pair(with: mac)
            #expect(outcome.device.id == identity.deviceID)
            #expect(mac.requests.last?.path == "/companion/status")
        }
        script.completeAnswer = .foreignDevice
        try await withFakeMac(script) { #expect(await failure(with: $0) == .foreignDevice) }
        script.completeAnswer = .notConnected
        try await withFakeMac(script) { #expect(await failure(with: $0) == .notConnected) }
    }
}
