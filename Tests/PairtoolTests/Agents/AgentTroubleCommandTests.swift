import CompanionTestSupport
import CompanionWire
import Testing

@testable import pairtool

/// A host's agent that asks to sign in, as the companion and the host's owner see it.
@Suite(.serialized, .timeLimit(.minutes(15))) struct AgentTroubleCommandTests {
    @Test("A prompt ends with code 11, and both sides are told why, until the agent answers again")
    func signIn() async throws {
        try await withProject { owner, user in
            let agent = try FakeACPAgent.command(in: owner.directory).joined(separator: " ") + " credentials"
            let arguments = [
                "--name", "Shed", "--project", owner.directory + "/garden", "--agent-command", agent, "--acp",
            ]
            try await withRunningHost(owner, arguments) { events in
                try await user.pair(try await events.payload.text)
                let before = try await owner.spawn(["host", "status"])
                #expect(before.status == 0 && !before.out.contains("trouble"), "\(before)")
                for more in [[], ["--json"]] {
                    let sent = try await user.spawn(["send", "--new", "say hi"] + more)
                    #expect(sent.status == 11 && (sent.out + sent.err).contains("asks to sign in"), "\(sent)")
                    #expect((sent.out + sent.err).contains("host.agent_sign_in") == !more.isEmpty, "\(sent)")
                }
                let status = try await user.spawn(["status"])
                #expect(status.status == 11 && status.out.contains("signed in  no"), "\(status)")
                let own = try await owner.spawn(["host", "status"])
                #expect(own.out.contains("\ntrouble  ") && own.out.contains("asks to sign in"), "\(own)")
                let row = try await owner.spawn(["host", "status", "--json"]).json[0]
                #expect(row["agentTrouble"]?.string?.contains("asks to sign in") == true, "\(row)")

                _ = try await owner.shell("touch credentials")
                let answered = try await user.spawn(["send", "--new", "say hi"])
                #expect(answered.status == 0 && answered.out.contains("hi"), "\(answered)")
                #expect(try await user.spawn(["status"]).status == 0)
                let after = try await owner.spawn(["host", "status", "--json"]).json[0]
                #expect(after["agentTrouble"] == nil)
            }
        }
    }
}
