import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import Identity
import Testing

@testable import pairtool

/// Prompts that wait for their hosts.
@Suite(.timeLimit(.minutes(15))) struct OutboxTests {
    /// A user who has paired with a Mac and has listed its chats.
    private func withMac(_ body: (FakeMac, Sandbox) async throws -> Void) async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                #expect(await user.run("chats").status == 0)
                try await body(mac, user)
            }
        }
    }

    /// A user whose prompts for one chat wait, because the Mac was away when they were written.
    private func withWaiting(
        _ texts: [String] = ["why?"],
        then faults: [FakeMacFault] = [],
        _ body: (FakeMac, Sandbox) async throws -> Void
    ) async throws {
        try await withMac { mac, user in
            mac.change { $0.faults = Self.away }
            for text in texts {
                let queued = await user.run("send", "Fix the login", text, "--queue")
                #expect(queued.status == 0 && mac.prompts == 0, "\(queued)")
            }
            mac.change { $0.faults = faults }
            try await body(mac, user)
        }
    }

    private func states(_ user: Sandbox) async throws -> [String] { try await column("state", user) }

    private func ids(_ user: Sandbox) async throws -> [String] { try await column("id", user) }

    /// What the rows of the outbox have; empty if nothing waits.
    private func column(_ key: String, _ user: Sandbox) async throws -> [String] {
        try await user.run("outbox", "--json").json.compactMap { $0[key]?.string }
    }

    private static let away = [FakeMacFault(.close)]

    @Test("A prompt for a host that is away waits; another command only says so, and outbox send sends it once")
    func waits() async throws {
        try await withMac { mac, user in
            mac.change { $0.faults = Self.away }
            let queued = await user.run("send", "Fix the login", "why?", "--queue", "--json")
            #expect(queued.status == 0, "\(queued)")
            let row = try #require(try queued.json.first)
            #expect(row["type"] == .text("queued") && row["chatId"] == .text("c-login"))
            #expect(try await states(user) == ["waiting"])
            let path = user.directory + "/data/pairtool/outbox"
            for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                let mode = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.posixPermissions]
                #expect(mode as? Int == 0o600, "\(name)")
            }
            #expect(await user.run("projects", "--offline").status == 0)
            #expect(mac.prompts == 0)
            mac.change { $0.faults = [] }
            let listed = await user.run("projects")
            #expect(listed.status == 0 && listed.err.contains("1 prompt waits for "), "\(listed)")
            #expect(listed.err.hasSuffix("(why?): pairtool outbox send\n"), "\(listed)")
            #expect(mac.prompts == 0)
            #expect(await user.run("outbox", "send").out == "You said: why?\n")
            #expect(await user.run("outbox").isEmptyList)
            #expect(await user.run("projects").err.contains("pairtool outbox send") == false)
            #expect(mac.prompts == 1)
        }
    }

    @Test("With the host there, --queue is the same as sending; the answer is shown")
    func there() async throws {
        try await withMac { mac, user in
            let sent = await user.run("send", "Fix the login", "why?", "--queue")
            #expect(sent.status == 0 && sent.out == "You said: why?\n", "\(sent)")
            #expect(await user.run("send", "Fix the login", "so?", "--queue", "-q").out == "You said: so?\n")
            #expect(mac.prompts == 2)
            let states = try await states(user)
            #expect(states == [])
        }
    }

    @Test("A chat or host that is not known here cannot have prompts that wait")
    func unknown() async throws {
        try await withMac { mac, user in
            mac.change { $0.faults = Self.away }
            #expect(await user.run("send", "nothing", "why?", "--queue").status == 3)
            let states = try await states(user)
            #expect(states == [])
            #expect(await user.run("send", "Fix the login", "x", "--queue", "--image", "a.png").status == 2)
        }
    }

    @Test("Waiting prompts go out in their order, before the next prompt of their chat, and show their answers")
    func order() async throws {
        try await withWaiting(["one", "two"]) { mac, user in
            let sent = await user.run("send", "Fix the login", "three")
            #expect(sent.status == 0 && sent.out == "You said: three\n", "\(sent)")
            for answer in ["one", "two"] { #expect(sent.err.contains("Its answer: You said: \(answer)"), "\(sent)") }
            let texts = mac.requests.filter { $0.path.hasSuffix("/continue") }.map(\.text)
            #expect(texts.count == 3)
            for (text, word) in zip(texts, ["one", "two", "three"]) { #expect(text.contains(word)) }
        }
    }

    @Test("outbox send prints the answers; show, remove and unknown ids")
    func command() async throws {
        try await withWaiting(["one", "two"], then: Self.away) { mac, user in
            let ids = try await ids(user)
            let shown = await user.run("outbox", "show", ids[0])
            #expect(shown.out.contains("one") && shown.out.contains("tools    the agent asks"), "\(shown)")
            #expect(await user.run("outbox", "send").status == 10)
            #expect(try await states(user) == ["waiting", "waiting"])
            #expect(await user.run("outbox", "remove", ids[1]).status == 0)
            #expect(await user.run("outbox", "remove", ids[1]).status == 3)
            mac.change { $0.faults = [] }
            let sent = await user.run("outbox", "send")
            #expect(sent.status == 0 && sent.out == "You said: one\n", "\(sent)")
            #expect(mac.prompts == 1)
        }
    }

    @Test(
        "A host that dies in the middle gets no prompt twice",
        arguments: [
            // Before the head of the answer: nobody knows whether it has the prompt.
            (FakeMacFault(.reset, on: "/companion/chats/c-login/continue", times: 1), "uncertain"),
            // It refuses for now: it has not got it.
            (
                FakeMacFault(
                    .json(status: 403, #"{"ok":false,"error":"No companion device connected"}"#),
                    on: "/companion/chats/c-login/continue",
                    times: 1
                ), "waiting"
            ),
        ]
    )
    func dying(_ fault: FakeMacFault, _ state: String) async throws {
        try await withWaiting(then: [fault]) { mac, user in
            let first = await user.run("outbox", "send")
            #expect(first.status != 0, "\(first)")
            #expect(try await states(user) == [state], "\(first)")
            let count = mac.prompts
            #expect(count == 1)
            mac.change { $0.faults = [] }
            guard state == "uncertain" else {
                #expect(await user.run("outbox", "send").status == 0)
                return
            }
            #expect(await user.run("projects").status == 0)
            #expect(await user.run("outbox", "send").isEmptyList)
            #expect(mac.prompts == count)
            let id = try #require(try await ids(user).first)
            let again = await user.run("outbox", "send", "--again", id)
            #expect(again.status == 0 && again.out == "You said: why?\n", "\(again)")
            #expect(mac.prompts == count + 1)
            #expect(try await states(user) == [])
        }
    }

    @Test("A prompt that was being sent when the sender ended is uncertain, and stays")
    func interrupted() async throws {
        let stalled = FakeMacFault(.stall(gate: "answer"), on: "/companion/chats/c-login/continue", times: 1)
        try await withWaiting(then: [stalled]) { mac, user in
            let (_, result) = try await user.follow(["outbox", "send"]) { sender in
                try await mac.reached("answer")
                kill(sender.pid, SIGKILL)
            }
            #expect(result.status == 128 + SIGKILL)
            mac.release("answer")
            #expect(try await states(user) == ["uncertain"])
            #expect(await user.run("projects").status == 0)
            #expect(mac.prompts == 1)
        }
    }

    @Test("When a prompt keeps waiting, those behind it in its chat do too, and others go out")
    func stuck() async throws {
        try await withMac { (mac: FakeMac, user: Sandbox) async throws in
            mac.change { $0.faults = Self.away }
            for (chat, text) in [("Fix the login", "one"), ("Fix the login", "two"), ("CORS", "three")] {
                #expect(await user.run("send", chat, text, "--queue").status == 0)
            }
            let busy = #"{"ok":false,"error":"busy","code":"chat.busy"}"#
            let path = "/companion/chats/c-login/continue"
            mac.change { $0.faults = [FakeMacFault(.json(status: 409, busy), on: path, times: 1)] }
            let first = await user.run("outbox", "send")
            #expect(first.status == 1 && first.out == "You said: three\n", "\(first)")
            #expect(try await user.run("outbox", "--json").json.compactMap { $0["prompt"]?.string } == ["one", "two"])
            mac.change { $0.faults = [FakeMacFault(.json(status: 409, busy), on: path, times: 1)] }
            let behind = await user.run("send", "Fix the login", "2b", "--queue")
            #expect(behind.status == 1 && behind.err.contains("The prompt waits as"), "\(behind)")
            let last = await user.run("outbox", "send")
            #expect(last.out == "You said: one\nYou said: two\nYou said: 2b\n", "\(last)")
        }
    }

    @Test("A prompt does not overtake one of its chat that keeps waiting")
    func overtaking() async throws {
        let busy = FakeMacFault(
            .json(status: 409, #"{"ok":false,"error":"busy","code":"chat.busy"}"#),
            on: "/companion/chats/c-login/continue",
            times: 1
        )
        try await withWaiting(["one"], then: [busy]) { mac, user in
            let id = try #require(try await ids(user).first)
            let held = await user.run("send", "Fix the login", "two", "--json")
            #expect(held.status == 1 && held.failed(with: "outbox.stuck"), "\(held)")
            #expect(held.err.contains("an earlier prompt in this chat (\(id)) still waits"), "\(held)")
            #expect(held.err.contains("pairtool outbox send \(id), or pairtool outbox remove \(id)"), "\(held)")
            #expect(mac.prompts == 1, "only the one that the host refused for now")
            #expect(try await states(user) == ["waiting"])
            let sent = await user.run("send", "Fix the login", "two")
            #expect(sent.status == 0 && sent.out == "You said: two\n", "\(sent)")
            #expect(sent.err.contains("Its answer: You said: one") && mac.prompts == 3, "\(sent)")
        }
    }

    @Test("A chat begins although an earlier prompt keeps waiting, and its next prompt tries that one again")
    func stuckAtStart() async throws {
        let busy = FakeMacFault(
            .json(status: 409, #"{"ok":false,"error":"busy","code":"chat.busy"}"#),
            on: "/companion/chats/c-login/continue",
            times: 1
        )
        try await withWaiting(["one"], then: [busy]) { mac, user in
            let chat = await user.run("chat", "Fix the login", stdin: "two\n")
            #expect(chat.status == 0 && chat.out.contains("You said: two"), "\(chat)")
            #expect(chat.err.contains("still waits and must be sent first"), "\(chat)")
            #expect(chat.err.contains("/help lists the commands."), "\(chat)")
            let asked = mac.messages(of: "c-login").filter { $0.role == .user }.map(\.text).suffix(2)
            #expect(asked == ["one", "two"] && mac.prompts == 3)
        }
    }

    @Test("What answers the questions about a prompt waits with it")
    func questions() async throws {
        try await withMac { mac, user in
            mac.change { $0.faults = Self.away }
            #expect(await user.run("send", "CORS", "why?", "--queue", "--deny-questions").status == 0)
            #expect(await user.run("send", "CORS", "so?", "--queue").status == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: user.data + "/outbox")
            let name = try #require(names.first { $0.hasSuffix("json") })
            let prompts = try OutboxStore(path: "\(user.data)/outbox/\(name)").load().prompts
            #expect(prompts.map(\.deniesQuestions) == [true, false])
        }
    }

    @Test("How a prompt failed decides about the exit code")
    func exitCodes() async throws {
        try await withMac { mac, user in
            let path = "/companion/chats/c-login/continue"
            let missing = FakeMacFault(.json(status: 404, #"{"ok":false,"error":"gone"}"#), on: path)
            mac.change { $0.faults = [missing] }
            #expect(await user.run("send", "Fix the login", "why?", "--queue").status == 3)
            #expect(try await states(user) == ["refused"])
            let id = try #require(try await ids(user).first)
            #expect(await user.run("outbox", "send", "--again", id).status == 3)
        }
    }

    @Test("A host's name is one line, whatever is in it")
    func forgedLine() async throws {
        try await withMac { mac, user in
            try PairedHostStore(directory: user.data).update { $0.hosts[0].name = "Mac\npairtool: all is well" }
            let known = await user.run("projects", "--offline")
            #expect(known.status == 0 && known.err.contains("all is well"), "\(known)")
            mac.change { $0.faults = Self.away }
            let queued = await user.run("send", "Fix the login", "why?", "--queue")
            mac.change { $0.faults = [] }
            let sent = await user.run("projects")
            #expect(sent.err.contains("why?"), "\(sent)")
            for said in [known, queued, sent] { #expect(!said.err.contains("\npairtool: all"), "\(said.err)") }
        }
    }

    @Test("An outbox that a newer version wrote is refused with the way out, and left as it is")
    func newer() async throws {
        try await withMac { mac, user in
            mac.change { $0.faults = Self.away }
            #expect(await user.run("send", "Fix the login", "why?", "--queue").status == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: user.data + "/outbox")
            let name = try #require(names.first { $0.hasSuffix("json") })
            let path = "\(user.data)/outbox/\(name)"
            let content = Data(#"{"version":2,"prompts":{}}"#.utf8)
            try content.write(to: URL(filePath: path))
            for arguments in [["outbox"], ["outbox", "show", "aaaa"], ["outbox", "remove", "aaaa"]] {
                let result = await user.run(arguments)
                #expect(result.status == 1 && !result.err.contains("damaged"), "\(result)")
                #expect(result.err.contains("was written by a newer version of pairtool"), "\(result)")
                #expect(result.err.contains("next: update pairtool"), "\(result)")
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == content)
        }
    }

    @Test("The beginning of an id that several prompts have is refused, and names them")
    func ambiguousID() async throws {
        try await withWaiting(["one", "two"], then: Self.away) { _, user in
            let names = try FileManager.default.contentsOfDirectory(atPath: user.data + "/outbox")
            let path = try #require(names.first { $0.hasSuffix("json") })
            try OutboxStore(path: "\(user.data)/outbox/\(path)").update { outbox in
                var changed = Outbox()
                for (id, prompt) in zip(["aaaa0000", "aaaa1111"], outbox.prompts) {
                    let added = changed.add(prompt.prompt, in: "", allowedTools: nil, at: prompt.writtenAt)
                    changed.change(added?.id ?? "") { $0.id = id }
                }
                outbox = changed
            }
            let several = await user.run("outbox", "show", "aaaa", "--json")
            #expect(several.status == 2 && several.failed(with: "outbox.ambiguous"), "\(several)")
            #expect(several.err.contains("aaaa0000") && several.err.contains("aaaa1111"))
            #expect(await user.run("outbox", "show", "bbbb", "--json").failed(with: "outbox.unknown"))
            #expect(await user.run("outbox", "show", "aaaa1").out.contains("two"))
        }
    }

    @Test("Two senders send a prompt once")
    func twoSenders() async throws {
        try await withWaiting(["one", "two", "three"]) { mac, user in
            async let first = user.spawn(["outbox", "send"])
            async let second = user.spawn(["outbox", "send"])
            for sent in try await [first, second] {
                // One that comes late finds nothing to send.
                #expect([0, 3].contains(sent.status) && !sent.err.contains("meanwhile"), "\(sent)")
            }
            #expect(mac.prompts == 3)
            #expect(try await states(user) == [])
        }
    }

    @Test("A host that is forgotten takes its prompts with it")
    func forgotten() async throws {
        try await withWaiting(["secret plan"], then: Self.away) { mac, user in
            let words = ["hosts", "forget", mac.endpointText]
            let kept = await user.run(words, stdin: "n\n", terminal: true)
            #expect(kept.status == 1 && kept.err.contains("and 1 prompt for it that wait here? [y/N]"), "\(kept)")
            #expect(try await states(user) == ["waiting"])
            let forgotten = await user.run(words + ["--yes"])
            #expect(forgotten.status == 0 && forgotten.err.contains("Removed 1 prompt that waited for it."))
            #expect(try await states(user) == [])
            let left = try await user.shell("grep -r 'secret plan' data || true")
            #expect(left.out.isEmpty, "\(left)")
        }
    }

    @Test("What the user sends again is signed anew; what waits keeps its command")
    func again() throws {
        var outbox = Outbox()
        let added = outbox.add("why?", in: "/web", allowedTools: nil, at: .now)
        let id = try #require(added).id
        outbox.change(id) { $0.commandID = UUID() }
        outbox.sendAgain(id)
        #expect(outbox.prompts[0].commandID != nil)
        let hasBegun = outbox.begin(id)
        #expect(hasBegun && outbox.prompts[0].state == .uncertain)
        outbox.sendAgain(id)
        #expect(outbox.prompts[0].state == .waiting && outbox.prompts[0].commandID == nil)
    }

    @Test("The queue has an end in bytes")
    func limit() {
        var outbox = Outbox()
        let large = String(repeating: "a", count: 1 << 20)
        for _ in 0..<4 { #expect(outbox.add(large, in: "/web", allowedTools: nil, at: .now) != nil) }
        #expect(outbox.add("b", in: "/web", allowedTools: nil, at: .now) == nil)
    }
}
