import CompanionClient
import CompanionTestSupport
import CompanionWire
import Testing

/// Lists of a host with things in them that are hard or impossible to read.
@Suite struct UnreadableTests {
    private static let half = JSONText.text(Array("😀".utf16).prefix(1))

    @Test("Projects, chats and messages with half a character in them are shown, and none is left out")
    func halves() async throws {
        let script = FakeMacScript.with { script in
            script.projects[0].name = "web \(Self.half)"
            script.chats[0].title = "cut \(Self.half)..."
            script.fill("c-login", count: 2)
            script.messages["c-login"]?[1].text = "an answer \(Self.half)"
        }
        try await withPeers(script) { _, client async throws in
            #expect(try await client.projects().first?.name == "web \u{FFFD}")
            #expect(try await client.chats(projectID: "p-web").first?.title == "cut \u{FFFD}...")
            let page = try await client.messagesPage(chatID: "c-login")
            #expect(page.messages.elements.map(\.text) == ["message 0", "an answer \u{FFFD}"])
            #expect(client.leftOut.counts.isEmpty)
        }
    }

    @Test("An answer with half a character in it ends a recovery like any other")
    func recovery() async throws {
        let answer = "all but \(Self.half)"
        var turn = FakeMacTurn(steps: [.frame(FakeMacTurn.text("all ")), .eof], answer: answer)
        turn.storedAtRead = 2
        try await withPeers(.turn(turn)) { mac, client async throws in
            var text = ""
            let turn = ChatTurn(client: client, chatID: "c-login", request: .prompt("Hi"), clock: ImmediateClock())
            for try await output in turn.run() {
                if case .text(let piece) = output { text += piece }
            }
            #expect(text == "all but \u{FFFD}")
            #expect(mac.prompts == 1)
        }
    }

    @Test("What cannot be read is counted once, however often its list is read")
    func counts() async throws {
        let messages =
            #"{"ok":true,"chatId":"c-login","messages":[{"id":"a","text":"x"},{"text":"no id"}],"nextCursor":null}"#
        let script = FakeMacScript.with { script in
            script.faults = [
                FakeMacFault(.json(status: 200, messages), on: "/companion/chats/c-login/messages"),
                FakeMacFault(
                    .json(status: 200, #"{"ok":true,"chats":[{"id":7},{"id":"c"},null]}"#),
                    on: "/companion/projects/p-web/chats"
                ),
            ]
        }
        try await withPeers(script) { _, client async throws in
            for _ in 0..<3 {
                #expect(try await client.chats(projectID: "p-web").map(\.id) == ["c"])
                #expect(try await client.lastMessages(chatID: "c-login", count: 20).map(\.id) == ["a"])
            }
            #expect(client.leftOut.counts == [.chats: 2, .messages: 1])
        }
    }
}
