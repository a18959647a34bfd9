import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@Suite struct FaultTests {
    static let page = #"<!DOCTYPE html><html><body>router</body></html>"#

    static let answers: [(FakeMacFault.Kind, CompanionClientError.Code)] = [
        (.redirect(to: "http://203.0.113.1/"), .redirected),
        (.redirect(to: "/companion/devices"), .redirected),
        (.raw("HTTP/1.1 304 Not Modified\r\n\r\n"), .redirected),
        (.page(status: 200), .notACompanion),
        (.page(status: 404), .notACompanion),
        (.page(status: 401), .notACompanion),
        (.page(status: 400), .badRequest),
        (.page(status: 413), .tooLarge),
        (.page(status: 502), .server),
        (.raw("HTTP/1.1 200 OK\r\nContent-Length: \(page.utf8.count)\r\n\r\n\(page)"), .notACompanion),
        (.garbage(Array("SSH-2.0-OpenSSH_9.2p1\r\n".utf8)), .notACompanion),
        (.garbage([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x50]), .notACompanion),
        (.garbage([UInt8](repeating: 0, count: 4096)), .notACompanion),
        (.json(status: 200, "[]"), .badAnswer),
        (.json(status: 200, #"{"ok":true}"#), .badAnswer),
        (.json(status: 200, "not JSON"), .badAnswer),
        (.json(status: 200, #"{"ok":true,"devices":"#), .badAnswer),
        (.json(status: 200, String(repeating: "[", count: 100_000)), .badAnswer),
        (.json(status: 400, #"{"ok":false,"error":"No"}"#), .badRequest),
        (.json(status: 403, #"{"ok":false,"error":"Only from loopback"}"#), .forbidden),
        (.json(status: 404, #"{"ok":false,"error":"Gone"}"#), .notFound),
        (.json(status: 413, #"{"ok":false,"error":"Large"}"#), .tooLarge),
        (.json(status: 426, #"{"ok":false,"error":"Upgrade"}"#), .unsupportedVersion),
        (.json(status: 501, #"{"ok":false,"error":"Not implemented"}"#), .server),
        (.oversized(bytes: 9 << 20, declared: true), .tooLarge),
        (.oversized(bytes: 9 << 20, declared: false), .tooLarge),
        (.reset, .unreachable),
        (.close, .unreachable),
        (.cutBody, .unreachable),
    ]

    @Test(arguments: answers.indices)
    func `every bad answer has its error`(_ index: Int) async throws {
        let (kind, code) = Self.answers[index]
        try await withPeers(.with { $0.faults = [FakeMacFault(kind)] }) { _, client async throws in
            let error = try await clientError { try await client.devices() }
            #expect(error.code == code, "\(error.debugDescription)")
            #expect(!error.message.isEmpty)
        }
    }

    @Test func `a redirect is not followed`() async throws {
        try await withFakeMac { other in
            let fault = FakeMacFault(.redirect(to: "http://\(other.endpointText)/health"))
            try await withPeers(.with { $0.faults = [fault] }) { _, client async throws in
                _ = try await clientError { try await client.health() }
                #expect(other.requests.isEmpty)
            }
        }
    }

    @Test(arguments: [#"{"status":"UP"}"#, #"{"ok":true,"service":"printer"}"#])
    func `another service on the port is no companion`(_ json: String) async throws {
        try await withPeers(.with { $0.faults = [FakeMacFault(.json(status: 200, json))] }) { _, client async throws in
            #expect(try await clientError { try await client.requireCompanion() }.code == .notACompanion)
        }
    }

    @Test func `the gate tells an unpaired host from one that is signed out`() async throws {
        try await withPeers(.with { $0.isSignedIn = false }) { mac, client async throws in
            let error = try await clientError { try await client.projects() }
            #expect(error.code == .hostSignedOut)
            #expect(error.hostText == "Copilot auth is required on Mac host")
            mac.change { $0.isSignedIn = true }
            #expect(try await client.projects().count == 4)
            _ = try await client.disconnect()
            mac.change { $0.isSignedIn = false }
            #expect(try await clientError { try await client.projects() }.code == .notPaired)
        }
    }

    @Test func `models of a signed-out host are signed out, those of a broken one are an error of the server`()
        async throws
    {
        try await withPeers(.with { $0.isSignedIn = false }) { mac, client async throws in
            #expect(try await clientError { try await client.models() }.code == .hostSignedOut)
            mac.change {
                $0.isSignedIn = true
                $0.faults = [FakeMacFault(.json(status: 500, #"{"ok":false,"error":"Oops"}"#), on: "/models")]
            }
            let error = try await clientError { try await client.models() }
            #expect(error.code == .server)
            #expect(error.hostText == "Oops")
        }
    }

    @Test func `an error knows when the host made it`() async throws {
        try await withPeers(
            .with {
                $0.isPaired = false; $0.clockSkew = .seconds(86_400)
            }
        ) { _, client async throws in
            let error = try await clientError { try await client.projects() }
            let date = try #require(error.serverDate)
            #expect(date.timeIntervalSinceNow > 80_000)
            #expect(error.httpStatus == 403)
        }
    }

    @Test func `nothing that listens is unreachable, and known not to have been sent`() async throws {
        // Port 1 is never handed out; a port that was just free may be somebody else's by now.
        let endpoint = try #require(CompanionEndpoint("127.0.0.1:1"))
        let error = try await clientError {
            try await CompanionAPIClient.withClient(endpoint: endpoint) { try await $0.completePairing(.example) }
        }
        #expect(error.code == .unreachable)
        #expect(error.delivery == .notSent)
    }

    @Test func `an answer that stalls times out`() async throws {
        let script = FakeMacScript.with { $0.faults = [FakeMacFault(.stall(gate: "never"))] }
        let configuration = CompanionClientConfiguration(timeouts: .init(request: .milliseconds(100)))
        try await withPeers(script, configuration) { _, client async throws in
            let error = try await clientError { try await client.health() }
            #expect(error.code == .timedOut)
            #expect(error.delivery == .unknown)
        }
    }

    @Test func `an answer that stalls and then comes is taken`() async throws {
        try await withPeers(.with { $0.faults = [FakeMacFault(.stall(gate: "wait"))] }) { mac, client async throws in
            async let health = client.health()
            try await mac.reached("wait")
            mac.release("wait")
            #expect(try await health.ok)
        }
    }

    @Test func `an answer that drips byte by byte is an answer`() async throws {
        try await withPeers(.with { $0.faults = [FakeMacFault(.drip)] }) { _, client async throws in
            #expect(try await client.projects().count == 4)
        }
    }

    @Test func `a GET is sent again a few times when its connection is cut, a POST never`() async throws {
        let script = FakeMacScript.with { $0.faults = [FakeMacFault(.close, times: 3)] }
        try await withPeers(script, .quick) { mac, client async throws in
            #expect(try await client.devices().count == 1)
            #expect(mac.requests.count == 4)
            mac.change { $0.faults = [FakeMacFault(.cutBody)] }
            #expect(try await clientError { try await client.devices() }.isCut)
            #expect(mac.requests.count == 8)
            mac.change { $0.faults = [FakeMacFault(.close, times: 1)] }
            let error = try await clientError { try await client.completePairing(.example) }
            #expect(error.code == .unreachable)
            #expect(error.delivery == .unknown)
            #expect(mac.requests("POST", "/companion/pairing/complete").count == 1)
        }
    }

    @Test func `a pairing that failed in the host's storage may stand all the same`() async throws {
        try await withPeers(
            .with {
                $0.isPaired = false; $0.completeAnswer = .storageFault
            }
        ) { _, client async throws in
            let error = try await clientError { try await client.completePairing(.example) }
            #expect(error.hostText?.hasPrefix("ENOSPC") == true)
            #expect(try await client.status().connected)
        }
    }

    @Test(arguments: [FakeMacScript.CompleteAnswer.notConnected, .foreignDevice])
    func `what the host says of the connected device is handed on as it is`(
        _ answer: FakeMacScript.CompleteAnswer
    ) async throws {
        try await withPeers(
            .with {
                $0.isPaired = false; $0.completeAnswer = answer
            }
        ) { _, client async throws in
            let status = try await client.completePairing(.example)
            #expect(status.connectedDevice?.id != String(Digest.sha256("key").prefix(16)))
        }
    }

    @Test func `a cancelled request ends as cancelled`() async throws {
        try await withPeers(.with { $0.faults = [FakeMacFault(.stall(gate: "never"))] }) { mac, client async throws in
            let task = Task { try await client.health() }
            try await mac.reached("never")
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}

extension PairingCompleteRequest {
    static let example = PairingCompleteRequest(
        pairingCode: "482913",
        pairingToken: nil,
        deviceName: "desk",
        devicePublicKey: "key"
    )
}
