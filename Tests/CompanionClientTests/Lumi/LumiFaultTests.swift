import CompanionTestSupport
import CompanionWire
import Testing

@testable import CompanionClient

@Suite struct LumiFaultTests {
    static let answers: [(FakeLumiFault.Kind, CompanionClientError.Code)] = [
        (.silence, .timedOut),
        (.close, .unreachable),
        (.reset, .unreachable),
        (.bytes([0xFF, 0xFF, 0xFF, 0xFF]), .tooLarge),
        (.bytes([0, 0x80, 0, 1]), .tooLarge),
        (.bytes(lumiFrame("not JSON")), .badAnswer),
        (.bytes(lumiFrame("")), .badAnswer),
        (.bytes(lumiFrame(String(repeating: "[", count: 100_000))), .badAnswer),
        (.bytes([0, 0, 0, 5, 0xFF, 0xFE]), .timedOut),
        (.payload(#"{"id":"ID","success":"yes","result":"50"}"#), .badAnswer),
        (.payload(#"{"id":"ID","success":true}"#), .badAnswer),
        (.payload(#"{"id":"ID","success":true,"result":50}"#), .badAnswer),
        (.payload(#"{"id":7,"success":true,"result":"50"}"#), .badAnswer),
        (.payload(#"{"id":"ID","success":true,"result":"50","imageData":"%%%"}"#), .badAnswer),
        (.payload(#"{"id":"no UUID","success":true,"result":"50"}"#), .timedOut),
        (.payload(#"{"id":"ID","success":false,"result":"","error":"Oops"}"#), .hostError),
        (.payload(#"{"id":"ID","success":false,"result":"","error":"Unknown command: x"}"#), .unsupportedVersion),
    ]

    @Test(arguments: answers.indices)
    func `every bad answer has its error`(_ index: Int) async throws {
        let (kind, code) = Self.answers[index]
        // What is not waited for in vain has time, also on a busy machine.
        let configuration = code == .timedOut ? LumiConfiguration(usual: .milliseconds(100)) : .default
        try await withLumi(.fault(kind), configuration) { _, client async throws in
            let error = try await clientError { try await client.volume() }
            #expect(error.code == code, "\(error.debugDescription)")
            #expect(error.message.contains("127.0.0.1"))
        }
    }

    static let strangers: [[UInt8]] = [
        Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), Array("SSH-2.0-OpenSSH_9.2p1\r\n".utf8),
        lumiFrame(#"{"jsonrpc":"2.0"}"#),
    ]

    @Test(arguments: strangers.indices)
    func `another service on the port is no Lumi host`(_ index: Int) async throws {
        let fault = FakeLumiFault(.bytes(Self.strangers[index]), on: "ping")
        try await withFakeLumi(.with { $0.faults = [fault] }) { host in
            let error = try await clientError {
                try await host.withConnection { try await $0.requestApproval(deviceName: "desk") }
            }
            #expect(error.code == .notACompanion, "\(error.debugDescription)")
        }
    }

    static let oddities: [FakeLumiFault.Kind] = [
        .drip, .split(after: 3), .split(after: 4), .split(after: 20), .strangerFirst, .twice,
        .payload(#"{"success":true,"result":"50","id":"ID","novelty":[{}]}"#),
    ]

    @Test(arguments: oddities.indices)
    func `odd ways to answer are borne, and the next answer is the right one`(_ index: Int) async throws {
        try await withLumi(.fault(Self.oddities[index])) { _, client async throws in
            #expect(try await client.volume() == 50)
            #expect(try await client.isMuted() == false)
            #expect(try await client.volume() == 50)
        }
    }

    @Test func `an answer that comes too late is nobody's`() async throws {
        let script = FakeLumiScript.fault(.withNext, on: "get_mute")
        // Not too impatient: the other commands are answered.
        try await withLumi(script, LumiConfiguration(usual: .seconds(15))) { _, client async throws in
            #expect(try await clientError { try await client.isMuted() }.code == .timedOut)
            // The late answer comes before and after this one.
            #expect(try await client.volume() == 50)
            #expect(try await client.brightness() == 75)
        }
    }

    @Test func `an id in lower case is the same id`() async throws {
        let answer = #"{"id":"8e1a3a52-7c1b-4b7a-9b1e-0c2b5d8a4e01","success":true,"result":""}"#
        let upper = #"{"id":"8E1A3A52-7C1B-4B7A-9B1E-0C2B5D8A4E01","success":true,"result":""}"#
        let (one, other) = (try LumiFaultTests.decode(answer), try LumiFaultTests.decode(upper))
        #expect(one.id != nil)
        #expect(one.id == other.id)
    }

    @Test func `an approval that stalls once is borne`() async throws {
        let fault = FakeLumiFault(.silence, on: "ping", times: 1, skip: 1)
        let script = FakeLumiScript.with {
            $0.user = .accepts(atPing: 3)
            $0.faults = [fault]
        }
        try await withFakeLumi(script) { host in
            // With the usual patience: the other pings are answered.
            try await host.withConnection { client async throws in
                #expect(try await client.requestApproval(deviceName: "desk") == .approval)
            }
        }
    }

    @Test func `a Mac that drops what it cannot read says nothing, and that is said`() async throws {
        try await withFakeLumi(.fault(.silence, on: "ping")) { host in
            let configuration = LumiConfiguration(ping: .milliseconds(200))
            let error = try await clientError {
                try await host.withConnection(configuration) { try await $0.requestApproval(deviceName: "desk") }
            }
            #expect(error.code == .timedOut)
            #expect(error.message.contains("0.2 seconds"))
            #expect(host.connections == 1)
        }
    }

    @Test func `a Mac that hangs over what a shell prints is given up after the shell's time`() async throws {
        let script = FakeLumiScript.with {
            $0.shell["much"] = String(repeating: "x", count: 64 << 10)
            $0.shell["more"] = String(repeating: "x", count: 64 << 10 + 1)
        }
        let limits = LumiConfiguration(usual: .milliseconds(100), slow: .milliseconds(300))
        try await withLumi(script, LumiConfiguration(usual: .milliseconds(100))) { host, client async throws in
            #expect(try await client.perform(.shell(try .init("much"))).result.utf8.count == 64 << 10)
            try await host.withConnection(limits) { other async throws in
                _ = try await other.requestApproval(deviceName: "sofa")
                let error = try await clientError { try await other.perform(.shell(try .init("more"))) }
                #expect(error.code == .timedOut && error.message.contains("0.3 seconds"), "\(error)")
                #expect(error.delivery == .unknown)
            }
            // It hangs for everybody.
            #expect(try await clientError { try await client.volume() }.code == .timedOut)
            #expect(host.commands("run_shell_command").count == 2)
        }
    }

    @Test func `a connection that has ended says so to whoever comes later`() async throws {
        try await withLumi(.fault(.close, times: 1)) { host, client async throws in
            for _ in 0..<2 {
                #expect(try await clientError { try await client.volume() }.code == .unreachable)
            }
            #expect(host.connections == 1)
        }
    }

    @Test func `a cancelled command ends as cancelled`() async throws {
        try await withLumi(.fault(.hold(gate: "never"))) { host, client async throws in
            let task = Task { try await client.volume() }
            try await host.reached("never")
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    private static func decode(_ text: String) throws -> LumiAnswer {
        try .init(json: text)
    }
}
