import CompanionTestSupport
import CompanionWire
import Testing

@testable import pairtool

/// What a Mac says that is hard or impossible to read, and who it says is connected.
@Suite struct LeftOutTests {
    @Test("A new chat whose title the Mac cuts inside an emoji is found again, and goes on")
    func cutTitle() async throws {
        let letters = String(repeating: "a", count: 44)
        var turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("The ")), .reset, .store], answer: "The answer")
        turn.storedAtRead = 3
        try await withPairedMac(FakeMacScript()) { mac, user in
            mac.change { [turn] in $0.turns = [turn] }
            let made = await user.run("send", "--new", "--project", "web", "\(letters)😀 and more of it", "--json")
            #expect(made.status == 0, "\(made)")
            let finished = try #require(try made.json.last)
            #expect(finished["answer"]?.string == "The answer")
            let id = try #require(finished["chatId"]?.string)
            let chats = await user.run("chats", "--json")
            #expect(chats.status == 0 && !chats.err.contains("left out"), "\(chats)")
            let row = try chats.json.first { $0["id"]?.string == id }
            #expect(row?["title"]?.string == "\(letters)\u{FFFD}...")
            // By its id, and by the beginning of its title.
            for word in [String(id.prefix(8)), letters] {
                let next = await user.run("send", word, "go on")
                #expect(next.status == 0 && next.out == "You said: go on\n", "\(next)")
            }
            #expect(mac.messages(of: id).count == 6)
        }
    }

    @Test("What cannot be read in a list is counted and said, in JSON as a warning")
    func leftOut() async throws {
        let chats = #"{"ok":true,"chats":[{"id":"c-1","title":"One"},{"id":7},{"title":"no id"}]}"#
        let none = #"{"ok":true,"chats":[]}"#
        var script = FakeMacScript()
        script.faults = [
            FakeMacFault(.json(status: 200, chats), on: "/companion/projects/p-api/chats"),
            FakeMacFault(.json(status: 200, none), on: "/companion/projects/p-web"),
            FakeMacFault(
                .json(status: 200, #"{"ok":true,"chatId":"c-1","messages":[{"text":"x"}],"nextCursor":null}"#),
                on: "/companion/chats/c-1/messages"
            ),
        ]
        try await withPairedMac(script) { _, user in
            let text = await user.run("chats")
            #expect(text.status == 0 && text.out.contains("One"), "\(text)")
            #expect(text.err.contains("2 chats could not be read and are left out"), "\(text.err)")
            let json = await user.run("chats", "--json")
            let rows = try json.json
            #expect(rows.count == 1)
            #expect(json.err.contains(#"{"warning":{"code":"host.left_out","message":"2 chats could not be read"#))
            let messages = await user.run("messages", "c-1")
            #expect(messages.err.contains("1 message could not be read and is left out"), "\(messages)")
        }
    }

    @Test("A list of which nothing can be read says so before it says that nothing is there")
    func nothingReadable() async throws {
        var script = FakeMacScript()
        script.faults = [
            FakeMacFault(.json(status: 200, #"{"ok":true,"projects":[{"name":"no id"}]}"#), on: "/companion/projects")
        ]
        try await withPairedMac(script) { _, user in
            let result = await user.run("projects")
            #expect(result.isEmptyList, "\(result)")
            #expect(result.err.contains("1 project could not be read and is left out"), "\(result.err)")
        }
    }

    @Test("A device that another one has superseded is told when it sends, and nothing is sent")
    func superseded() async throws {
        try await withPairedMac(FakeMacScript()) { mac, user in
            mac.connect(name: "Tablet")
            let result = await user.run("send", "c-login", "hello", "--json")
            #expect(result.status == 5, "\(result)")
            #expect(result.failed(with: "host.superseded"), "\(result.err)")
            #expect(result.err.contains("Tablet") && result.err.contains("pairtool pair"))
            #expect(mac.prompts == 0)
            let chat = await user.run("chat", "c-login", stdin: "hello\n")
            #expect(chat.err.contains("Tablet"), "\(chat)")
            #expect(mac.prompts == 0)
        }
    }

    @Test("Why a host does not start on a taken port comes before the word that it has ended")
    func takenPort() async throws {
        try await withFakeMac { mac in
            try await withProject { host, _ in
                let arguments = ["--project", host.directory + "/garden", "--engine", "embedded", "--tls-port", "0"]
                let result = try await host.spawn(["host", "--port", "\(mac.port)"] + arguments)
                #expect(result.status == 1, "\(result)")
                let why = try #require(result.err.firstRange(of: "pairtool: "), "\(result)")
                let ended = try #require(result.err.firstRange(of: "The host has ended."), "\(result)")
                #expect(why.lowerBound < ended.lowerBound)
                #expect(result.err[why.lowerBound...].contains("\(mac.port)"))
                let json = try await host.spawn(["host", "--port", "\(mac.port)", "--json"] + arguments)
                #expect(json.failed(with: "host.port_in_use"), "\(json)")
            }
        }
    }
}
