import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@testable import pairtool

/// `send` and `watch` over connections that are cut, and to hosts that were restarted.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BrokenLineTests {
    /// Lets a user's only host be where a tunnel is.
    private func move(_ user: Sandbox, to relay: CutRelay) throws {
        let endpoint = try #require(CompanionEndpoint("127.0.0.1:\(relay.port)"))
        try PairedHostStore(directory: user.directory + "/data/pairtool").update { $0.hosts[0].endpoint = endpoint }
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

    private func prompts(_ mac: FakeMac) -> Int { mac.requests.count { $0.path.hasSuffix("/continue") } }

    @Test("A tunnel to a Mac that ends inside the answer's head, and is away for a while, costs nothing")
    func version1() async throws {
        try await withPairedMac { mac, relay, user in
            for (index, offset) in [0, 1, 9, 17, 28, 60, 150, 230, 300].enumerated() {
                relay.cut(after: offset, of: "/companion/chats/c-login/continue", then: .away(connections: 5))
                let result = await user.run("send", "c-login", "hello \(offset)")
                #expect(result.status == 0, "\(offset): \(result)")
                #expect(result.out == "You said: hello \(offset)\n", "\(offset): \(result)")
                #expect(prompts(mac) == index + 1, "\(offset)")
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
            #expect(prompts(mac) == 1)
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
            #expect(result.err.contains("The host was restarted during this turn"), "\(result.err)")
            mac.change { $0.isSignedIn = true }
            let next = await user.run("send", "c-login", "two")
            #expect(next.status == 0 && next.out == "You said: two\n", "\(next)")
            #expect(prompts(mac) == 2)
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
            #expect(resumed["message"]?.string?.contains("what changed in chats meanwhile follows") == true)
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
