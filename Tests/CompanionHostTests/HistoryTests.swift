import CompanionHost
import CompanionWire
import FoundationEssentials
import Testing

@Suite("Projects, chats and messages", .timeLimit(.minutes(15)))
struct HistoryTests {
    private func page(_ host: TestHost, _ query: String = "", chat: String = "chat-1") async throws
        -> CompanionMessagesPageResponse
    {
        try await host.get("/companion/chats/\(chat)/messages\(query)").decoded(CompanionMessagesPageResponse.self)
    }

    @Test("Projects are the listed directories, the one worked in last first; no project is invented")
    func projects() async throws {
        try await withTemporaryDirectory { directory in
            let clock = TestClock()
            try write("", to: directory + "/other/file")
            try await withHost(in: directory, clock: clock.hostClock) {
                $0.projects = [directory + "/project", directory + "/other", directory + "/project/"]
            } _: { host in
                try await host.pair()
                clock.advance(by: 10)
                #expect(try await host.ask("help", path: directory + "/other").status == 200)
                let projects = try await host.get("/companion/projects").decoded(CompanionProjectsResponse.self)
                #expect(projects.projects.elements.map(\.name) == ["other", "project"])
                #expect(projects.projects.elements.map(\.localPath) == [directory + "/other", directory + "/project"])
                let ids = projects.projects.elements.map(\.id)
                #expect(ids.allSatisfy { $0.utf8.count == 16 } && Set(ids).count == 2)
                let chats = try await host.get("/companion/projects/\(ids[0])/chats").decoded(
                    CompanionChatsResponse.self
                )
                #expect(chats.chats.elements.map(\.id) == ["chat-1"])
                let none = try await host.get("/companion/projects/unknown/chats").decoded(CompanionChatsResponse.self)
                #expect(none.chats.elements.isEmpty)
            }
        }
    }

    @Test("A project's id is the first 16 hex digits of its path's SHA-1")
    func projectID() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory) {
                $0.projects = ["/usr/share"]
            } _: { host in
                try await host.pair()
                let projects = try await host.get("/companion/projects").decoded(CompanionProjectsResponse.self)
                // printf /usr/share | sha1sum
                #expect(projects.projects.elements.first?.id == "88ccfacd3fcbe4cc")
            }
        }
    }

    @Test("Pages follow the cursor to the end; limits clamp to 1…200 and junk counts as nothing")
    func pages() async throws {
        try await withHost { host in
            try await host.pair()
            for _ in 0..<3 { _ = try await host.ask("help") }
            let all = try await page(host)
            #expect(all.chatId == "chat-1" && all.messages.elements.count == 6 && all.nextCursor == nil)
            #expect(all.messages.elements.map(\.role) == [.user, .assistant, .user, .assistant, .user, .assistant])
            #expect(all.messages.elements[0].text == "help")
            let first = try await page(host, "?cursor=0&limit=4")
            #expect(first.messages.elements == Array(all.messages.elements[..<4]) && first.nextCursor == "4")
            let second = try await page(host, "?cursor=4&limit=2")
            #expect(second.messages.elements == Array(all.messages.elements[4...]) && second.nextCursor == nil)
            #expect(try await page(host, "?limit=0").messages.elements.count == 1)
            #expect(try await page(host, "?limit=-7").nextCursor == "1")
            #expect(try await page(host, "?limit=9999999999999999999999").messages.elements.count == 6)
            #expect(try await page(host, "?limit=2x&cursor=1y").nextCursor == "3")
            #expect(try await page(host, "?limit=x&cursor=-5").messages.elements.count == 6)
            #expect(try await page(host, "?cursor=6").messages.elements.isEmpty)
            // That is for sessions.
            #expect(try await page(host, "?last=2") == all)
            #expect(try await page(host, "?cursor=9223372036854775807&limit=200").nextCursor == nil)
        }
    }

    @Test("With a session, a page can begin so many messages before the end of a chat")
    func lastPage() async throws {
        try await withHostAndDevice { _, device in
            try await device.pair()
            let device = device
            let chat = try await device.newChat().id
            for _ in 0..<3 { try await device.ask("help", chat: chat) }
            func page(_ query: String, of chat: String) async throws -> CompanionMessagesPageResponse {
                try await device.get("/companion/chats/\(chat)/messages?\(query)")
                    .decoded(CompanionMessagesPageResponse.self)
            }
            let all = try await page("cursor=0", of: chat)
            #expect(all.messages.elements.count == 6 && all.firstCursor == nil)
            let last = try await page("last=4", of: chat)
            #expect(last.messages.elements == Array(all.messages.elements[2...]))
            #expect(last.firstCursor == "2" && last.nextCursor == nil)
            let part = try await page("last=4&limit=3&cursor=1", of: chat)
            #expect(part.messages.elements == Array(all.messages.elements[2..<5]))
            #expect(part.firstCursor == "2" && part.nextCursor == "5")
            for none in ["last=0", "last=-3"] {
                let end = try await page(none, of: chat)
                #expect(end.messages.elements.isEmpty && end.firstCursor == "6" && end.nextCursor == nil)
            }
            let whole = try await page("last=9999999999999999999999", of: chat)
            #expect(whole.messages.elements == all.messages.elements && whole.firstCursor == "0")
            #expect(try await page("last=x", of: chat) == all)
            let unknown = try await page("last=4", of: "unknown")
            #expect(unknown.messages.elements.isEmpty && unknown.firstCursor == "0" && unknown.nextCursor == nil)
        }
    }

    @Test("A limit over 200 gives 200 messages")
    func upperLimit() async throws {
        try await withHost { host in
            try await host.pair()
            // Without a model only the prompt is stored.
            for index in 0..<201 { _ = try await host.ask("p\(index)", model: nil) }
            let first = try await page(host, "?limit=500")
            #expect(first.messages.elements.count == 200 && first.nextCursor == "200")
            #expect(try await page(host).messages.elements.count == 50)
            #expect(try await page(host, "?cursor=200").messages.elements.map(\.text) == ["p200"])
        }
    }

    @Test("A page ends at 4 MiB of text, after one message at least, and goes on where it ended")
    func pageSize() async throws {
        try await withHost {
            // Answers with as many bytes as the prompt says.
            $0.agent = .command(["/bin/sh", "-c", "read size; head -c $size /dev/zero | tr '\\0' a"])
        } _: { host in
            try await host.pair()
            let (large, small) = (CompanionHostStore.pageTextSize + 1, 1_500_000)
            for size in [large, small, small, small, 1] {
                let reply = try await host.ask("\(size)\n", model: "command")
                #expect(reply.frames.last == .done(files: nil))
            }
            var sizes: [[Int]] = []
            var cursor: String? = "0"
            while let next = cursor, sizes.count < 20 {
                let page = try await page(host, "?limit=200&cursor=\(next)")
                sizes.append(page.messages.elements.map(\.text.utf8.count))
                cursor = page.nextCursor
            }
            #expect(sizes == [[8], [large], [8, small, 8, small, 8], [small, 2, 1]])
            #expect(try await page(host, "?limit=1&cursor=9").nextCursor == nil)
        }
    }

    @Test("An unknown chat is an empty page")
    func unknownChat() async throws {
        try await withHost { host in
            try await host.pair()
            let reply = try await host.get("/companion/chats/a%20%22b%2Fc/messages")
            #expect(reply.body == #"{"ok":true,"chatId":"a \"b/c","messages":[],"nextCursor":null}"#)
        }
    }

    @Test("Every character comes back as it was sent")
    func characters() async throws {
        try await withHost { host in
            try await host.pair()
            let text = "quote \" backslash \\ tab \t line \n nul \u{0} esc \u{1b} del \u{7f} 🚀 é \u{2028} </script>"
            _ = try await host.ask(text, model: nil)
            #expect(try await page(host).messages.elements.first?.text == text)
        }
    }

    @Test(
        "A chat's title is its first prompt, folded and cut",
        arguments: [
            ("  one\n\ttwo  ", "one two"),
            (String(repeating: "a", count: 48), String(repeating: "a", count: 48)),
            (String(repeating: "a", count: 49), String(repeating: "a", count: 45) + "..."),
            (String(repeating: "a", count: 44) + "🚀🚀🚀", String(repeating: "a", count: 44) + "..."),
        ]
    )
    func title(prompt: String, expected: String) async throws {
        #expect(CompanionHostStore.title(prompt: prompt) == expected)
        try await withHost { host in
            try await host.pair()
            _ = try await host.ask(prompt)
            let projects = try await host.get("/companion/projects").decoded(CompanionProjectsResponse.self)
            let id = try #require(projects.projects.elements.first?.id)
            let chats = try await host.get("/companion/projects/\(id)/chats").decoded(CompanionChatsResponse.self)
            #expect(chats.chats.elements.map(\.title) == [expected])
        }
    }

    @Test("Devices, their connection and address, chats and messages survive a restart")
    func restart() async throws {
        try await withTemporaryDirectory { directory in
            let before = try await withHost(in: directory) { host in
                try await host.pair(name: "Phone")
                _ = try await host.ask("help")
                return try await page(host)
            }
            try await withHost(in: directory) { host in
                let status = try await host.get("/companion/status").decoded(CompanionStatusResponse.self)
                #expect(status.connectedDevice?.name == "Phone")
                #expect(try await page(host) == before)
                #expect(before.messages.elements.count == 2)
                let other = try await host.raw("GET", "/companion/projects", from: "127.0.0.2")
                #expect(other.error == "Paired from another address: pair again from this machine")
                _ = try await host.ask("help")
                #expect(try await page(host).messages.elements.count == 4)
            }
        }
    }

    @Test("Chats of a project that is no longer listed are kept and not served")
    func unlisted() async throws {
        try await withTemporaryDirectory { directory in
            try write("", to: directory + "/other/file")
            try await withHost(in: directory) { host in
                try await host.pair()
                _ = try await host.ask("help")
            }
            try await withHost(in: directory) {
                $0.projects = [directory + "/other"]
            } _: { host in
                let hidden = try await page(host)
                #expect(hidden.messages.elements.isEmpty)
                #expect(try await host.ask("help").status == 403)
            }
            try await withHost(in: directory) { host in
                let shown = try await page(host)
                #expect(shown.messages.elements.count == 2)
            }
        }
    }

    @Test("The database is for its owner only, and for one host at a time")
    func files() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory) { host in
                try await host.pair()
                #expect(try mode(of: directory + "/state") == 0o700)
                for name in ["host.sqlite", "host.sqlite-wal", "host.sqlite-shm", "host.sqlite.lock"] {
                    let found = try mode(of: directory + "/state/" + name)
                    #expect(found == 0o600, "\(name)")
                }
                let second = CompanionHostConfiguration(
                    name: "",
                    port: 0,
                    projects: [],
                    databasePath: directory + "/state/host.sqlite",
                    version: ""
                )
                let error = #expect(throws: CompanionHostError.self) {
                    try CompanionBridgeServer(configuration: second, logger: .silent)
                }
                #expect(error?.code == .databaseInUse)
            }
        }
    }
}
