import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@testable import pairtool

/// `send` and `watch` over connections that are cut, and to hosts that were restarted.
@Suite(.serialized, .timeLimit(.minutes(15))) struct BrokenLineTests {
    /// Lets a user's only host be where a tunnel is.
    private func move(_ user: Sandbox, to relay: CutRelay) throws {
        let endpoint = try #require(CompanionEndpoint("127.0.0.1:\(relay.port)"))
        try PairedHostStore(directory: user.directory + "/data/pairtool").update { $0.hosts[0].endpoint = endpoint }
    }

    @Test("When the request to cancel an answer fails, that is said, and the answer is waited for")
    func cancelFails() async throws {
        try await Sandbox.with { place in
            let pipe = try await place.pipe("gate")
            try await withVerifiedHost(["--agent-command", "sh -c 'echo begun; exec cat \(pipe)'"]) { events, _, user in
                try await withCutRelay(before: try await events.ports.secure) { relay in
                    try move(user, to: relay)
                    let words = ["send", "--new", "--project", "garden", "dig", "--json"]
                    let blind = ["PAIRTOOL_INTERFACE": "none0"]
                    let (_, result) = try await user.follow(words, environment: blind) { run in
                        // The answer goes on; the request to cancel finds no connection.
                        _ = try await run.events.first("text")
                        relay.close(butSpeaking: true)
                        try run.interrupt()
                        try await run.messages.has("Still waiting for the answer.")
                        #expect(try await place.shell("echo dug >gate").status == 0)
                    }
                    #expect(result.status == 0, "\(result)")
                    #expect(try result.json.last?["answer"]?.string?.contains("dug") == true, "\(result)")
                }
            }
        }
    }

    private func withPairedMac(_ body: (FakeMac, CutRelay, Sandbox) async throws -> Void) async throws {
        try await withFakeMac { mac in
            try await withCutRelay(before: mac.port) { relay in
                try await Sandbox.with { user in
                    await user.pair(mac)
                    try move(user, to: relay)
                    try await body(mac, relay, user)
                }
            }
        }
    }

    @Test("A tunnel to a Mac that ends inside the answer's head, and is away for a while, costs nothing")
    func version1() async throws {
        try await withPairedMac { mac, relay, user in
            for (index, offset) in [0, 1, 9, 17, 28, 60, 150, 230, 300].enumerated() {
                relay.cut(after: offset, of: "/companion/chats/c-login/continue", then: .away(connections: 5))
                let result = await user.run("send", "c-login", "hello \(offset)")
                #expect(result.status == 0, "\(offset): \(result)")
                #expect(result.out == "You said: hello \(offset)\n", "\(offset): \(result)")
                #expect(mac.prompts == index + 1, "\(offset)")
            }
        }
    }

    @Test("A tunnel to a Mac that does not come back is exit code 14: the prompt may have run", arguments: [0, 9, 28])
    func gone(offset: Int) async throws {
        try await withPairedMac { mac, relay, user in
            relay.cut(after: offset, of: "/companion/chats/c-login/continue", then: .gone)
            let result = await user.run("send", "c-login", "hello", "--json")
            #expect(result.status == 14, "\(result)")
            #expect(result.failed(with: "host.stream_interrupted"), "\(result.err)")
            #expect(result.err.contains("The prompt may have run") && result.err.contains("pairtool messages c-login"))
            #expect(mac.prompts == 1)
        }
    }

    @Test("A tunnel to a verified host may end anywhere, in a handshake too: a prompt runs once, its answer is whole")
    func version2() async throws {
        try await withVerifiedHost { events, _, user in
            try await withCutRelay(before: try await events.ports.secure) { relay in
                let made = await user.run("send", "--new", "--project", "garden", "list", "--json")
                let chat = try #require(made.json.last?["chatId"]?.string)
                let answer = try await user.run("messages", chat, "--json").json.last?["text"]?.string ?? ""
                try move(user, to: relay)
                var sent = 1
                for offset in [0, 1, 127, 500, 800, 1100, 1300, 1500, 1700, 2000, 2400] {
                    // The first connection asks who is there.
                    relay.cut(after: offset, skipping: 1, then: .away(connections: 2))
                    let result = await user.run("send", chat, "list")
                    sent += 1
                    #expect(result.status == 0, "\(offset): \(result)")
                    #expect(result.out == answer + "\n" || result.out == answer, "\(offset): \(result)")
                    let messages = try await user.run("messages", chat, "--all", "--json").json
                    #expect(messages.count { $0["role"]?.string == "user" } == sent, "\(offset)")
                }
            }
        }
    }

    /// Where a prompt that waits for a verified host was when its tunnel ended.
    private enum Cut: Hashable {
        /// The host has executed the command, but its answer is lost.
        case executed
        case notSent
        case received
    }

    @Test("A prompt that waits for a verified host runs there once, wherever the tunnel ends while it is sent")
    func queued() async throws {
        // Else the host is found past its tunnel, by its adverts.
        let blind = ["PAIRTOOL_INTERFACE": "none0"]
        try await withVerifiedHost { events, _, user in
            try await withCutRelay(before: try await events.ports.secure) { relay in
                let made = await user.run("send", "--new", "--project", "garden", "first", "--json")
                let chat = try #require(made.json.last?["chatId"]?.string)
                #expect(await user.run("chats").status == 0)
                try move(user, to: relay)
                try PairedHostStore(directory: user.directory + "/data/pairtool").update {
                    $0.hosts[0].namedEndpoint = nil
                }
                var (prompts, cuts) = (["first"], Set<Cut>())
                var isCut = true
                for offset in stride(from: 0, to: 9000, by: 150) where isCut {
                    relay.close()
                    prompts.append("after \(offset)")
                    let words = ["send", chat, prompts[prompts.count - 1], "--queue"]
                    let queued = await user.run(words, environment: blind)
                    #expect(queued.status == 0 && queued.err.contains("The prompt waits as"), "\(offset): \(queued)")
                    let before = try await user.run("outbox", "--json").json
                    #expect(before.map { $0["state"] } == [.text("waiting")], "\(offset)")
                    // The first connection asks who is there.
                    relay.cut(after: offset, skipping: 1, then: .gone)
                    let first = await user.run("outbox", "send", environment: blind)
                    isCut = relay.wasCut
                    let left = try await user.run("outbox", "--json").json
                    relay.open()
                    guard isCut else {
                        #expect(first.status == 0 && left.isEmpty, "\(offset): \(first)")
                        continue
                    }
                    let second = await user.run("outbox", "send", environment: blind)
                    if left.isEmpty {
                        cuts.insert(.received)
                        #expect(second.isEmptyList, "\(offset): \(second)")
                    } else {
                        cuts.insert(first.status == 14 ? .executed : .notSent)
                        #expect([10, 14].contains(first.status), "\(offset): \(first)")
                        #expect(left.map { $0["state"] } == [.text("waiting")], "\(offset): \(first)")
                        #expect(second.status == 0 && !second.out.isEmpty, "\(offset): \(second)")
                    }
                    #expect(await user.run("outbox").isEmptyList, "\(offset)")
                }
                #expect(!isCut && cuts.isSuperset(of: [.executed, .notSent]), "\(cuts)")
                let messages = try await user.run("messages", chat, "--all", "--json", environment: blind).json
                let asked = messages.filter { $0["role"]?.string == "user" }
                #expect(asked.map { $0["text"]?.string } == prompts)
                #expect(messages.count == 2 * prompts.count, "each has one answer")
            }
        }
    }

    @Test("A turn that a restart of the Mac has ended is exit code 14 at once, and the next prompt goes out")
    func restarted() async throws {
        let lost = FakeMacTurn(steps: [.frame(FakeMacTurn.text("half")), .hold("shown"), .reset])
        try await withPairedMac { mac, _, user in
            mac.change { $0.turns = [lost] }
            async let sent = user.run("send", "c-login", "one")
            try await mac.reached("shown")
            mac.restart()
            mac.release("shown")
            let result = await sent
            #expect(result.status == 14, "\(result)")
            #expect(result.err.contains("the host was restarted during this turn"), "\(result.err)")
            mac.change { $0.isSignedIn = true }
            let next = await user.run("send", "c-login", "two")
            #expect(next.status == 0 && next.out == "You said: two\n", "\(next)")
            #expect(mac.prompts == 2)
        }
    }

    @Test("A prompt that nobody waited for and that a restart has ended does not hold up the next one")
    func abandoned() async throws {
        let lost = FakeMacTurn(steps: [.frame(FakeMacTurn.text("half")), .hold("shown"), .reset])
        try await withPairedMac { mac, _, user in
            mac.change { $0.turns = [lost] }
            let (_, stopped) = try await user.follow(["send", "c-login", "one", "--json"]) { command in
                try await mac.reached("shown")
                _ = try await command.events.first("text")
                try command.interrupt()
            }
            #expect(stopped.status == 130, "\(stopped)")
            mac.restart()
            mac.change { $0.isSignedIn = true }
            mac.release("shown")
            let before = mac.requests.count
            let next = await user.run("send", "c-login", "two")
            #expect(next.status == 0 && next.out == "You said: two\n", "\(next)")
            #expect(next.err.contains("The host was restarted before it answered the last prompt"), "\(next.err)")
            #expect(mac.requests.count - before < 20)
        }
    }

    @Test("A prompt that nobody waited for holds up the next one for two minutes, and no longer")
    func longest() async throws {
        let silent = FakeMacTurn(steps: [.frame(FakeMacTurn.text("half")), .hold("shown"), .reset])
        try await withPairedMac { mac, _, user in
            mac.change { $0.turns = [silent] }
            let (_, stopped) = try await user.follow(["send", "c-login", "one", "--json"]) { command in
                try await mac.reached("shown")
                _ = try await command.events.first("text")
                try command.interrupt()
            }
            #expect(stopped.status == 130, "\(stopped)")
            let before = mac.requests("GET", "/health").count
            // Here time passes by waiting, at once.
            let next = await user.run("send", "c-login", "two")
            #expect(next.status == 0 && next.out == "You said: two\n", "\(next)")
            #expect(next.err.contains("Waiting for it to end"))
            let asked = mac.requests("GET", "/health").count - before
            #expect(asked > 60 && asked < 145, "once a second: \(asked)")
            mac.release("shown")
        }
    }

    @Test("A watch says that its connection is back, and reads what it has missed, each message once")
    func watchGap() async throws {
        try await withVerifiedHost { events, host, user in
            try await withCutRelay(before: try await events.ports.secure) { relay in
                try await seeGap(relay, host, user)
            }
        }
    }

    private func seeGap(_ relay: CutRelay, _ host: Sandbox, _ user: Sandbox) async throws {
        try move(user, to: relay)
        let followed = try await user.follow(["watch", "--json"]) { watch -> String in
            _ = try await watch.events.first("hello")
            relay.close()
            _ = try await watch.events.first("interrupted")
            let chat = try await chatOfGuest(host)
            relay.open()
            let resumed = try await watch.events.first("resumed")
            #expect(resumed["message"]?.string?.contains("the chats that changed meanwhile follow") == true)
            _ = try await watch.events.first("chat.changed") { $0["chatId"]?.string == chat }
            try watch.interrupt()
            return chat
        }
        let (chat, result) = (followed.0, followed.1)
        #expect(result.status == 130, "\(result)")
        let created = try result.json.filter { $0["type"]?.string == "message.created" }
        #expect(created.map { $0["chatId"]?.string } == [chat, chat], "\(result.out)")
        #expect(Set(created.compactMap { $0["messageId"]?.string }).count == 2)
        let types = try result.json.compactMap { $0["type"]?.string }
        let resumed = try #require(types.firstIndex(of: "resumed"))
        #expect(try #require(types.firstIndex(of: "message.created")) > resumed)
    }

    /// Has another device pair, and begin a chat.
    private func chatOfGuest(_ host: Sandbox) async throws -> String {
        try await Sandbox.with { guest in
            try await guest.pair(try await host.newChallenge(), as: "guest")
            let sent = try await guest.spawn(["send", "--new", "--project", "garden", "hello", "--json"])
            #expect(sent.status == 0, "\(sent)")
            return try #require(sent.json.last?["chatId"]?.string)
        }
    }
}
