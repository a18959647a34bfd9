import CompanionTestSupport
import FoundationEssentials
import Glibc
import LocalState
import Testing

@testable import pairtool

/// Forms and pages of an agent, answered by the built binary.
@Suite(.serialized, .timeLimit(.minutes(15))) struct AgentFormCommandTests {
    private static let form =
        #"elicit {"mode":"form","message":"Which branch?","requestedSchema":{"properties":{"branch":{"type":"string","title":"Branch","minLength":2,"default":"main"},"level":{"type":"string","oneOf":[{"const":"fast","title":"Fast"},{"const":"slow","title":"With tests"}]},"count":{"type":"integer","minimum":1,"maximum":5},"tags":{"type":"array","items":{"type":"string","enum":["lint","docs"]}}},"required":["branch","count"]}}"#
    private static let page =
        #"elicit {"mode":"url","elicitationId":"e","url":"https://login.example/device?code=A-1","message":"Sign in"}"#

    private func withAgent(
        _ body: @escaping @Sendable (_ host: Sandbox, _ user: Sandbox, HostEvents) async throws -> Void
    ) async throws {
        try await AgentQuestionCommandTests().withAgent([], body)
    }

    @Test("At a terminal each value is asked for, what was typed stays on a mistake, and one more look comes last")
    func terminal() async throws {
        try await withAgent { _, user, _ in
            try await user.atTerminal(["send", "--new", Self.form]) { terminal in
                try await terminal.shows("The agent asks: Which branch?")
                try await terminal.shows("Branch [branch] (at least 2 characters, required)")
                try await terminal.shows("[y] fill in  [n] decline  [d] dismiss  [v] show again: ")
                try await terminal.type("y")
                try await terminal.shows("› main")
                try await terminal.type("\u{15}m\r")
                try await terminal.shows("“branch” needs at least 2 characters.")
                try await terminal.shows("› m")
                try await terminal.type("ain-2\r")
                try await terminal.shows("2) With tests [slow]")
                try await terminal.shows("› ")
                try await terminal.type("2\r")
                try await terminal.shows("count (whole number, 1 to 5, required)")
                try await terminal.shows("› ")
                try await terminal.type("\r")
                try await terminal.shows("“count” is required.")
                try await terminal.shows("› ")
                try await terminal.type("3\r")
                try await terminal.shows("2) docs")
                try await terminal.shows("› ")
                try await terminal.type("\r")
                try await terminal.shows("Branch: main-2")
                try await terminal.shows("tags: –")
                try await terminal.shows("[y] send  [e] change  [n] decline  [d] dismiss: ")
                try await terminal.type("e")
                for (question, kept) in [
                    ("Branch [branch]", "› main-2"), ("level (one of", "› 2"), ("count (whole", "› 3"),
                    ("tags (any", "› "),
                ] {
                    try await terminal.shows(question)
                    try await terminal.shows(kept)
                    try await terminal.type("\r")
                }
                try await terminal.shows("[y] send")
                try await terminal.type("y")
                try await terminal.shows("The agent continues.")
                try await terminal.shows(
                    #"elicited: {"action": "accept", "content": {"branch": "main-2", "count": 3, "level": "slow"}}"#
                )
                #expect(try await terminal.status == 0)
                #expect(try await terminal.echoesAtEnd)
            }
        }
    }

    @Test(
        "In a chat, a form is declined or dismissed by a key, and the next prompt is as it was",
        arguments: [("n", "decline"), ("d", "cancel")]
    )
    func refused(key: String, action: String) async throws {
        try await withAgent { _, user, _ in
            try await user.atTerminal(["chat"]) { terminal in
                try await terminal.shows("› ")
                try await terminal.type(Self.form + "\r")
                try await terminal.shows("[y] fill in")
                try await terminal.type(key)
                try await terminal.shows(#"elicited: {"action": "\#(action)"}"#)
                try await terminal.shows("› ")
                try await terminal.type("say hello\r")
                try await terminal.shows("hello")
                try await terminal.shows("› ")
                try await terminal.type("\u{4}")
                #expect(try await terminal.status == 0)
            }
        }
    }

    /// Runs a body while `send` waits for a form without a terminal.
    private func withForm(
        _ prompt: String = form,
        _ options: [String] = [],
        answer: String,
        _ body: @escaping @Sendable (_ host: Sandbox, _ user: Sandbox, _ id: String) async throws -> Void
    ) async throws {
        try await withAgent { host, user, _ in
            let (_, sent) = try await user.follow(["send", "--new", prompt, "--json"] + options) { run in
                let id = try #require(try await run.events.first("approval_asked")["approvalId"]?.string)
                try await run.messages.has("pairtool approvals answer \(id.prefix(8)), or reject")
                try await body(host, user, id)
                #expect(try await run.events.first("finished")["answer"] == .text("elicited: \(answer)"))
            }
            #expect(sent.status == 0, "\(sent)")
        }
    }

    @Test("A script answers by options; each of its mistakes is named, and nothing is sent")
    func options() async throws {
        let answer = #"{"action": "accept", "content": {"branch": "main", "count": 2, "tags": ["lint", "docs"]}}"#
        // No option that allows tools answers a form.
        try await withForm(Self.form, ["--allow-all-tools"], answer: answer) {
            host,
            user,
            id in
            let shown = try await user.spawn(["approvals", "show", id, "--json"])
            guard case .list(let fields)? = try shown.json[0]["form"]?["fields"] else {
                Issue.record("\(shown)")
                return
            }
            #expect(fields.compactMap { $0["name"]?.string } == ["branch", "level", "count", "tags"])
            #expect(try shown.json[0]["kind"] == .text("form"))
            for (words, message) in [
                (["approve", id], "is a form: it needs an answer"),
                (["answer", id], "there is no terminal to ask at"),
                (
                    ["answer", id, "--field", "branch=m", "--field", "x=1"],
                    "“branch” needs at least 2 characters; “x” is no field of the form; “count” is required"
                ),
                (["answer", id, "--field", "count=2", "--field", "count=3"], "“count” takes one value"),
                (["answer", id, "--field", "=3"], "--field needs a name and a value"),
                (["answer", id, "--field", "count=2", "--dismiss"], "not both"),
            ] {
                let wrong = try await user.spawn(["approvals"] + words)
                #expect(wrong.status == 2 && wrong.err.contains(message), "\(wrong)")
            }
            let words = ["answer", id, "--field", "count=2", "--field", "tags=lint", "--field", "tags=docs", "--json"]
            let answered = try await user.spawn(["approvals"] + words)
            #expect(try answered.json[0]["option"] == .text("accept"), "\(answered)")
            let late = try await host.spawn(["host", "approvals", "answer", id, "--dismiss"])
            #expect(late.status == 1 && late.err.contains("answered first"), "\(late)")
            let audit = try await host.spawn(["host", "audit"])
            #expect(audit.out.contains("form; answer accept") && !audit.out.contains("Which branch?"), "\(audit)")
        }
    }

    @Test(
        "The owner answers, declines and dismisses over the admin socket",
        arguments: [
            (["answer", "--field", "count=1"], #"{"action": "accept", "content": {"branch": "main", "count": 1}}"#),
            (["reject"], #"{"action": "decline"}"#), (["answer", "--dismiss"], #"{"action": "cancel"}"#),
        ]
    )
    func owner(words: [String], answer: String) async throws {
        try await withForm(answer: answer) { host, _, id in
            let given = try await host.spawn(["host", "approvals", words[0], id] + words.dropFirst())
            #expect(given.status == 0 && given.out.contains(": Which branch? (\(id)"), "\(given)")
        }
    }

    @Test("--deny-questions declines a form")
    func denied() async throws {
        try await withAgent { _, user, _ in
            let sent = try await user.spawn(["send", "--new", Self.form, "--deny-questions"])
            #expect(sent.status == 0 && sent.out.contains(#"elicited: {"action": "decline"}"#), "\(sent)")
            #expect(sent.err.contains("Device “desk” declined it"), "\(sent)")
        }
    }

    @Test("A page is shown with its server first, and is opened by a key alone")
    func opened() async throws {
        try await withAgent { _, user, _ in
            let programs = try user.program("programs/xdg-open", "echo \"$*\" >\(user.directory)/seen")
            // Who writes there waits for a reader.
            #expect(mkfifo(user.directory + "/seen", 0o600) == 0)
            let environment = ["DISPLAY": ":77", "PATH": "\(programs):/usr/bin:/bin"]
            try await user.atTerminal(["send", "--new", Self.page], environment: environment) { terminal in
                try await terminal.shows("The agent asks: Sign in")
                try await terminal.shows("Server: login.example")
                try await terminal.shows("https://login.example/device?code=A-1")
                try await terminal.shows("[o] open it here")
                try await terminal.type("o")
                try await terminal.shows(#"elicited: {"action": "accept"}"#)
                #expect(try await terminal.status == 0)
            }
            let seen = try await BlockingCall.run { [path = user.directory + "/seen"] in
                let pipe = open(path, O_RDONLY)
                defer { close(pipe) }
                var bytes = [UInt8](repeating: 0, count: 4096)
                return String(decoding: bytes[..<max(read(pipe, &bytes, bytes.count), 0)], as: UTF8.self)
            }
            #expect(seen == "https://login.example/device?code=A-1\n")
            try await user.atTerminal(["send", "--new", Self.page]) { terminal in
                try await terminal.shows("[o] open it here")
                try await terminal.type("o")
                try await terminal.shows("there is no desktop here that could open the page")
                try await terminal.shows("[o] open it here")
                try await terminal.type("n")
                try await terminal.shows(#"elicited: {"action": "decline"}"#)
                #expect(try await terminal.status == 0)
            }
        }
    }

    @Test("On the desktop a form can be declined, not approved", .enabled(if: PrivateBus.missing.isEmpty))
    func notification() async throws {
        try await withForm(answer: #"{"action": "decline"}"#) { _, user, id in
            try await PrivateBus.with(["notifications", "--can", "actions", "--can", "body"]) { desktop in
                let watching = ["approvals", "--watch", "--notify", "--json", "--interval", "0.05s"]
                let (_, _) = try await user.follow(watching, environment: desktop.environment) { watch in
                    let call = try await desktop.call("Notify")
                    #expect(call["title"] == .text("The agent asks: Which branch?"))
                    #expect(call["body"]?.string?.contains("pairtool approvals answer \(id.prefix(8))") == true)
                    #expect(call["actions"] == .list([.text("reject"), .text("Decline")]), "\(call)")
                    guard case .number(let number)? = call["number"] else { throw CancellationError() }
                    try await desktop.tell("choose \(Int(number)) reject")
                    _ = try await watch.events.first("decided")
                    try watch.interrupt()
                }
            }
        }
    }
}
