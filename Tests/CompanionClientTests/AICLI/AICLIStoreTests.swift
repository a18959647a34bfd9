import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import History
import Identity
import LocalState
import Testing

@Suite struct AICLIStoreTests {
    private let noon = Date(timeIntervalSince1970: 1_795_262_400)

    @Test("A directory has one session: a new id takes the place of the old one")
    func oneADirectory() {
        var table = AICLISessionTable()
        #expect(table.session(for: "/web") == nil)
        table.started("a", in: "/web", at: noon)
        table.started("b", in: "/api", at: noon)
        table.started("c", in: "/web", at: noon)
        #expect(table.sessions.map(\.id) == ["b", "c"])
        #expect(table.session(for: "/web")?.id == "c")
    }

    @Test("A session that the server had before keeps its age and its memory")
    func sameSession() {
        var table = AICLISessionTable()
        table.started("a", in: "/web", at: noon)
        table.saw(["1", "2"], in: "a")
        table.started("a", in: "/web", at: noon + 60)
        #expect(table.session(for: "/web")?.createdAt == noon)
        #expect(table.session(for: "/web")?.lastActivityAt == noon + 60)
        #expect(table.session(for: "/web")?.seen == ["1", "2"])
    }

    @Test("A session that the server does not know is forgotten, one that goes on is kept alive")
    func verdicts() {
        var table = AICLISessionTable()
        table.started("a", in: "/web", at: noon)
        table.take(.continued, of: "a", at: noon + 10)
        #expect(table.session(for: "/web")?.lastActivityAt == noon + 10)
        table.take(.unknown, of: "a", at: noon + 20)
        #expect(table.session(for: "/web") == nil)
    }

    @Test("Cleaning up takes sessions whose time is over, or that the server does not list")
    func cleanUp() {
        var table = AICLISessionTable()
        table.started("old", in: "/old", at: noon - AICLISessionTable.idleLimit)
        table.started("gone", in: "/gone", at: noon)
        table.started("here", in: "/here", at: noon)
        var offline = table
        let goneOffline = offline.cleanUp(now: noon, listed: nil)
        #expect(goneOffline.map(\.id) == ["old"])
        let gone = table.cleanUp(now: noon, listed: ["here", "old"])
        #expect(gone.map(\.id) == ["old", "gone"])
        #expect(table.sessions.map(\.id) == ["here"])
    }

    @Test("The memory of shown messages does not grow without end")
    func memory() {
        var table = AICLISessionTable()
        table.started("a", in: "/web", at: noon)
        for number in 0..<2000 { table.saw(["\(number)"], in: "a") }
        #expect(table.session(for: "/web")?.seen.count == 512)
        #expect(table.session(for: "/web")?.seen.last == "1999")
    }

    @Test("Prompts that wait go out in their order, each once, and one of unknown fate is not sent again by itself")
    func outbox() throws {
        var outbox = Outbox()
        let one = outbox.add("one", in: "/web", allowedTools: [], at: noon)
        let two = outbox.add("two", in: "/web", allowedTools: nil, at: noon)
        let (first, second) = (try #require(one), try #require(two))
        #expect(outbox.next == first)
        let began = outbox.begin(first.id)
        let beganAgain = outbox.begin(first.id)
        #expect(began && !beganAgain)
        #expect(outbox.next == second)
        outbox.putBack(first.id)
        #expect(outbox.next?.id == first.id)
        outbox.finish(first.id)
        #expect(outbox.prompts == [second])
    }

    @Test("The queue has an end")
    func fullOutbox() {
        var outbox = Outbox()
        for number in 0..<Outbox.mostPrompts {
            let entry = outbox.add("\(number)", in: "/web", allowedTools: nil, at: noon)
            #expect(entry != nil)
        }
        let excess = outbox.add("one more", in: "/web", allowedTools: nil, at: noon)
        #expect(excess == nil)
    }

    @Test("Files are their owner's alone, survive a reopening, and damaged ones are named and left as they are")
    func files() async throws {
        try await withTemporaryDirectory { folder in
            let store = AICLIStore(data: folder, hostID: "abcd")
            try store.updateOutbox { _ = $0.add("secret plan", in: "/web", allowedTools: nil, at: noon) }
            try store.updateSessions { $0.started("a", in: "/web", at: noon) }
            let again = AICLIStore(data: folder, hostID: "abcd")
            #expect(try again.outbox().prompts.map(\.prompt) == ["secret plan"])
            #expect(try again.sessions().session(for: "/web")?.createdAt == noon)
            for name in try FileManager.default.contentsOfDirectory(atPath: store.directory) {
                #expect(FileStatus(store.directory + "/" + name)?.permissions == 0o600, "\(name)")
            }
            #expect(FileStatus(store.directory)?.permissions == 0o700)
            try Data("{".utf8).write(to: URL(filePath: store.directory + "/outbox.json"))
            #expect(throws: RecordFileError.self) { try again.outbox() }
            #expect(try Data(contentsOf: URL(filePath: store.directory + "/outbox.json")) == Data("{".utf8))
        }
    }

    @Test("Files that a newer version wrote are refused with the way out, not called damaged, and left as they are")
    func newer() async throws {
        try await withTemporaryDirectory { folder in
            let store = AICLIStore(data: folder, hostID: "abcd")
            let content = Array(#"{"version":2,"prompts":{},"sessions":{}}"#.utf8)
            let paths = ["outbox", "sessions"].map { "\(store.directory)/\($0).json" }
            for path in paths { try content.withUnsafeBytes { try PrivateFile.write($0, to: path) } }
            for use in [
                { _ = try store.outbox() },
                { try store.updateOutbox { _ = $0.add("why?", in: "/web", allowedTools: nil, at: noon) } },
                { _ = try store.sessions() }, { try store.updateSessions { $0.started("a", in: "/web", at: noon) } },
            ] as [() throws -> Void] {
                let error = #expect(throws: RecordFileError.self) { try use() }
                #expect(error?.description.hasSuffix("was written by a newer version of pairtool") == true)
                #expect(error?.remedy == "update pairtool" && error?.isDamage == false)
            }
            #expect(store.outboxStore.isWhole && store.damagedFiles().isEmpty)
            for path in paths { #expect(try PrivateFile.read(path) == content) }
        }
    }

    @Test("A host's id leads nowhere but into its own folder")
    func pathTricks() {
        let store = AICLIStore(data: "/data", hostID: "../../etc/passwd")
        #expect(store.directory == "/data/aicli/etcpasswd")
        #expect(AICLIStore(data: "/data", hostID: "..").directory == "/data/aicli/host")
    }

    @Test("Tools are kept with the prompt; without a history nothing is kept, and the session goes on all the same")
    func tools() async throws {
        let turn = FakeAICLITurn([.text("Let me look."), .tool("Read"), .result, .reply("Let me look.")])
        try await withAICLI(.turns(turn)) { peers in
            _ = try await peers.send("one")
            let tools = await peers.history.use { store throws(HistoryError) in
                let chats = try await store.allChats()
                return try await store.messages(of: chats[0]).map { $0.tools.map(\.name) }
            }
            #expect(tools == [["Read"], []])
            var second = peers
            second.host = peers.host.recorded(by: nil)
            _ = try await second.send("two")
            #expect(peers.server.prompts == ["one", "two"] && peers.server.sessions.count == 1)
            #expect(try await second.transcript().isEmpty)
            #expect(try await peers.transcript().count == 2)
        }
    }
}
