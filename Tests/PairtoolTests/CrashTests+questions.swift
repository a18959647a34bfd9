import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

extension CrashTests {
    @Test(
        "Killed while its agent asks, the host leaves no agent behind, and the next one says what became of the question",
        .timeLimit(.minutes(15))
    )
    func openQuestion() async throws {
        try await withProject { host, user in
            let file = host.directory + "/process"
            let fake = try FakeACPAgent.command(in: host.directory).joined(separator: " ")
            // It stays when its input ends.
            let script = try host.file("agent.sh", Array("echo $$ >\(file)\n\(fake)\nexec tail -f /dev/null\n".utf8))
            let agent = ["--agent-command", "/bin/sh \(script)", "--acp"]
            let id = try await withDoomedHost(host, agent) { events, _ in
                let paired = try await pair(user, events)
                #expect(paired.status == 0, "\(paired)")
                try await withClient(user, events) { client in
                    let project = try #require(try await client.projects().first)
                    let chat = try await client.createChat(projectID: project.id, title: "ask").id
                    let request = ContinueChatRequest(prompt: "ask", projectPath: nil, model: nil, allowedTools: [])
                    _ = try await client.startTurn(chatID: chat, request: request)
                }
                return try #require(try await events.first("question_asked")["questionId"]?.string)
            }
            let number = try String(contentsOfFile: file, encoding: .utf8)
            let process = try #require(Int32(number.dropLast()))
            // One that nobody has waited for stays as a zombie.
            let isAlive = "grep -qs '^State:.[^XZ]' /proc/\(process)/status"
            let wait = "i=0; while \(isAlive) && [ $i -lt 2400 ]; do i=$((i + 1)); sleep 0.1; done; ! \(isAlive)"
            #expect(try await host.shell(wait).status == 0, "the agent's process is still there")
            try await withDoomedHost(host, agent) { events, _ in
                _ = try await events.ports
                let rows = try await host.spawn(["host", "approvals", "list", "--all", "--json"]).json
                #expect(rows.map { $0["id"] } == [.text(id)] && rows.map { $0["status"] } == [.text("interrupted")])
                let listed = try await host.spawn(["host", "approvals", "list", "--all"])
                #expect(listed.out.contains("Run it") && listed.out.contains("host restarted"), "\(listed)")
                let none = try await host.spawn(["host", "approvals"])
                #expect(
                    none.isEmptyList && !none.err.contains("--watch"),
                    "the owner's list has no such option: \(none)"
                )
                let late = try await host.spawn(["host", "approvals", "approve", id, "--json"])
                #expect(late.status == 1 && late.failed(with: "approval.decided"), "\(late)")
                #expect(late.err.contains("The host was restarted: the agent that asked is gone"), "\(late)")
            }
        }
    }
}
