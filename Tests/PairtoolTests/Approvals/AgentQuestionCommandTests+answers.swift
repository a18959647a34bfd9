import CompanionTestSupport
import FoundationEssentials
import Testing

@testable import pairtool

extension AgentQuestionCommandTests {
    @Test("A tool that was neither allowed nor asked about is named in a line, once for each kind in a turn")
    func unasked() async throws {
        try await withAgent { _, user, _ in
            let line = "Neither allowed nor asked about: Edit (edit)."
            let sent = try await user.spawn(["send", "--new", "show 0"])
            #expect(sent.status == 0 && sent.err.components(separatedBy: line).count == 2, "\(sent)")
            let chat = try await user.spawn(["chat"], stdin: "show 0\nshow 0\n")
            #expect(chat.err.components(separatedBy: line).count == 3, "once in each of two turns: \(chat)")
            for options in [["--allow-tool", "edit"], ["--allow-tool", "Edit"], ["--allow-all-tools"]] {
                let allowed = try await user.spawn(["send", "--new", "show 0"] + options)
                #expect(allowed.status == 0 && !allowed.err.contains("Neither allowed"), "\(allowed)")
            }
            let asked = try await user.spawn(["send", "--new", "ask", "--deny-questions"])
            #expect(asked.status == 0 && !asked.err.contains("Neither allowed"), "\(asked)")
            try await user.atTerminal(["send", "--new", "show 0"]) { terminal in
                try await terminal.shows(line)
                #expect(try await terminal.status == 0)
            }
            let json = try await user.spawn(["send", "--new", "show 0", "--json"]).json
            let tools = json.filter { $0["type"] == .text("tool") }
            #expect(!tools.isEmpty && tools.allSatisfy { $0["asked"] == .bool(false) }, "\(json)")
        }
    }

    @Test(
        "--deny-questions rejects also where the agent offers no rejection, and so do both inboxes",
        arguments: ["--deny-questions", "approvals", "host"]
    )
    func noRejection(way: String) async throws {
        try await withAgent { host, user, events in
            let prompt = ["send", "--new", #"ask-options [["y","Yes","allow_once"]]"#, "--json"]
            let options = way == "--deny-questions" ? [way] : []
            let (_, sent) = try await user.follow(prompt + options) { run in
                let id = try #require(try await run.events.first("approval_asked")["approvalId"]?.string)
                if way == "approvals" {
                    let rejected = try await user.spawn(["approvals", "reject", id])
                    #expect(rejected.status == 0 && rejected.out.hasPrefix("Rejected: Run it"), "\(rejected)")
                } else if way == "host" {
                    let rejected = try await host.spawn(["host", "approvals", "reject", id])
                    #expect(
                        rejected.status == 0 && rejected.out == "Rejected: Run it (\(id), at localhost)\n",
                        "\(rejected)"
                    )
                }
                #expect(try await run.events.first("finished")["answer"] == .text("chosen: cancelled"))
            }
            #expect(sent.status == 0, "\(sent)")
        }
    }

    @Test(
        "An answer is chosen by its name or id, also one of two of a kind, and one of an unknown kind by the owner",
        arguments: [("approvals", "Yes, in docs", "z"), ("host", "z", "z"), ("host", "Sometimes", "s")]
    )
    func option(way: String, option: String, answer: String) async throws {
        try await withAgent { host, user, events in
            let offered = #"[["y","Yes","allow_once"],["z","Yes, in docs","allow_once"],["s","Sometimes","maybe"]]"#
            let (_, sent) = try await user.follow(["send", "--new", "ask-options \(offered)", "--json"]) { run in
                let id = try #require(try await run.events.first("approval_asked")["approvalId"]?.string)
                let (who, words) = way == "host" ? (host, ["host", "approvals"]) : (user, ["approvals"])
                let unknown = try await who.spawn(words + ["approve", id, "--option", "No"])
                #expect(
                    unknown.status != 0
                        && unknown.err.contains("Yes (allow once); Yes, in docs (allow once); Sometimes (unknown)"),
                    "\(unknown)"
                )
                let approved = try await who.spawn(words + ["approve", id, "--option", option])
                #expect(approved.status == 0 && approved.out.hasPrefix("Approved: Run it"), "\(approved)")
                #expect(approved.err.contains("The agent continues."), "\(approved)")
                #expect(try await run.events.first("finished")["answer"] == .text("chosen: \(answer)"))
            }
            #expect(sent.status == 0, "\(sent)")
        }
    }
}
