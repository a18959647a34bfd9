import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

/// What a host tells of an agent that does not work.
@Suite("A host whose agent does not work", .timeLimit(.minutes(15)))
struct AgentTroubleHostTests {
    private func withAgent(
        _ options: String...,
        in directory: String,
        _ body: (TestHost, TestDevice) async throws -> Void
    ) async throws {
        let command = try FakeACPAgent.command(in: directory) + options
        let launch = ACPLaunch(id: "fake", name: "Fake", command: command, signInHint: "run fake login")
        try await withHostAndDevice(in: directory) {
            $0.agent = .acp(launch)
            $0.turnTimeout = .seconds(60)
        } _: { host, device in
            try await device.pair()
            try await body(host, device)
        }
    }

    private func lastFrame(_ prompt: String, _ device: TestDevice) async throws -> String? {
        let (chat, turn) = try await device.startTurn(prompt, model: "fake")
        // Ends with the turn.
        let reply = try await device.events(chat: chat, turn: turn)
        return reply.body.split(separator: "\n").last { $0.hasPrefix("data: {") }.map(String.init)
    }

    private func isSignedIn(_ device: TestDevice) async throws -> Bool {
        try await device.get("/auth/status").decoded(CompanionAuthStatusResponse.self).authenticated
    }

    private func trouble(_ host: TestHost) async -> AgentTrouble? {
        await host.server.administration.answer(AdminRequest(.status)).status?.agents.first?.trouble
    }

    @Test("One that asks to sign in ends turns with a code, and the host says so until it answers again")
    func signIn() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent("credentials", in: directory) { host, device in
                #expect(try await isSignedIn(device), "nothing is known yet")
                #expect(await trouble(host) == nil)
                let words = "Fake asks to sign in. At the host: run fake login. Then send the prompt again"
                let frame = try await lastFrame("say one", device)
                #expect(frame == #"data: {"type":"error","error":"\#(words)","code":"host.agent_sign_in"}"#)
                #expect(try await !isSignedIn(device))
                #expect(await trouble(host) == AgentTrouble(message: words, needsSignIn: true))
                try Data().write(to: URL(filePath: directory + "/credentials"))
                #expect(try await lastFrame("say two", device) == #"data: {"type":"done"}"#)
                #expect(try await isSignedIn(device))
                #expect(await trouble(host) == nil)
            }
        }
    }

    @Test("One that does not start ends turns with another code, one that ends later does not")
    func ends() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent("no-start", in: directory) { host, device in
                let words = "Fake ended with status 7. The next prompt starts it again"
                let frame = try await lastFrame("say one", device)
                #expect(frame == #"data: {"type":"error","error":"\#(words)","code":"host.agent_unavailable"}"#)
                #expect(await trouble(host) == AgentTrouble(message: words, needsSignIn: false))
                #expect(try await isSignedIn(device))
            }
        }
        try await withTemporaryDirectory { directory in
            try await withAgent("no-key", in: directory) { host, device in
                let words = "Fake did not start: There is no API key"
                let frame = try await lastFrame("say one", device)
                #expect(frame == #"data: {"type":"error","error":"\#(words)","code":"host.agent_unavailable"}"#)
                #expect(await trouble(host) == AgentTrouble(message: words, needsSignIn: false))
            }
        }
        try await withTemporaryDirectory { directory in
            try await withAgent(in: directory) { host, device in
                let words = "Fake ended with status 3. The next prompt starts it again"
                let frame = try await lastFrame("die", device)
                #expect(frame == #"data: {"type":"error","error":"\#(words)"}"#)
                #expect(await trouble(host) == AgentTrouble(message: words, needsSignIn: false))
            }
        }
    }
}
