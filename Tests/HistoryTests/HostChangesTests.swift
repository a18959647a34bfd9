import CompanionWire
import FoundationEssentials
import Testing

@testable import History

@Suite("The history follows what a host does")
struct HostChangesTests {
    @Test("Changed, removed, inserted and moved messages are taken over from the pages that show them")
    func pages() async throws {
        let history = try TestHistory()
        try await history.page(["a", "b", "c", "d"])
        try await history.page(["a", "b=other", "d", "e"])
        #expect(try await history.stored() == ["a", "b=other", "d", "e"])
        try await history.page(["e", "a", "b", "d"])
        #expect(try await history.stored() == ["e", "a", "b", "d"])
        try await history.page(["x", "e", "a"], isEnd: false)
        #expect(try await history.stored() == ["x", "e", "a", "b", "d"])
        try await history.page(["d", "f"], at: 4)
        #expect(try await history.stored() == ["x", "e", "a", "b", "d", "f"])
        try await history.page([])
        #expect(try await history.stored().isEmpty)
    }

    @Test("Messages before and after a page move with it, and what was never read stays a gap")
    func shifts() async throws {
        let history = try TestHistory()
        try await history.page(["m10", "m11", "m12"], at: 10)
        #expect(try await history.store.unreadCount(hostID: TestHistory.host.id, chatID: "c") == 10)
        // Two messages were imported at the beginning, and one was removed between two that were read.
        try await history.page(["m10", "m12", "m13"], at: 12)
        #expect(try await history.stored() == ["m10", "m12", "m13"])
        try await history.page(["m8", "m9", "m10"], at: 10, isEnd: false)
        #expect(try await history.stored() == ["m8", "m9", "m10", "m12", "m13"])
        let position = try await history.store.position(hostID: TestHistory.host.id, chatID: "c")
        #expect(position?.cursor == "10" && position?.identifiers.last == "m13")
    }

    @Test("Where reading goes on is never before the chat's beginning, and an offset that no chat has is none")
    func bounds() async throws {
        let history = try TestHistory()
        for start in stride(from: 0, to: 61, by: 20) {
            let page = (start..<min(61, start + 20)).map { "m\($0)" }
            try await history.page(page, at: start, after: start > 0 ? "m\(start - 1)" : nil, isEnd: start == 60)
        }
        // The host has removed the first 40.
        try await history.page(["m60"], at: 20)
        let position = try await history.store.position(hostID: TestHistory.host.id, chatID: "c")
        #expect(position?.cursor == "0" && position?.identifiers.last == "m60")
        for offset in [Int.max, Int.max - 1, -1, Int.min] {
            try await history.page(["m60", "m61"], at: offset)
            #expect(try await history.stored().suffix(2) == ["m60", "m61"])
        }
    }

    @Test("Any sequence of pages of a host that changes at random ends as the host's own list", arguments: 1...20)
    func random(seed: Int) async throws {
        let history = try TestHistory()
        var dice = Dice(seed: UInt64(seed))
        var host = (0..<60).map { "m\($0)" }
        var next = 60
        for _ in 0..<60 {
            switch dice.roll(4) {
            case 0: host.remove(at: dice.roll(host.count))
            case 1: host.insert("m\(next)", at: dice.roll(host.count + 1))
            case 2: host.swapAt(dice.roll(host.count), dice.roll(host.count))
            default: host.append("m\(next)")
            }
            next += 1
            let start = dice.roll(host.count)
            let end = min(host.count, start + 1 + dice.roll(15))
            let before = try await history.stored()
            try await history.page(Array(host[start..<end]), at: start, isEnd: end == host.count)
            let stored = try await history.stored()
            #expect(Set(stored).count == stored.count)
            // The page is there, as it is.
            let place = try #require(stored.firstIndex(of: host[start]))
            #expect(stored[place...].prefix(end - start).elementsEqual(host[start..<end]))
            #expect(Set(stored).isSubset(of: Set(before).union(host[start..<end])))
        }
        for start in stride(from: 0, to: host.count, by: 7) {
            let end = min(host.count, start + 7)
            let before = start > 0 ? host[start - 1] : nil
            try await history.page(Array(host[start..<end]), at: start, after: before, isEnd: end == host.count)
        }
        #expect(try await history.stored() == host)
    }

    @Test("A page of a changed chat that was known as a whole costs nothing that the host still has", arguments: 1...20)
    func kept(seed: Int) async throws {
        let history = try TestHistory()
        var dice = Dice(seed: UInt64(seed))
        var host = (0..<60).map { "m\($0)" }
        var next = 60
        for _ in 0..<20 {
            try await history.page(host)
            for _ in 0...dice.roll(4) {
                switch dice.roll(3) {
                case 0: host.remove(at: dice.roll(host.count))
                case 1: host.insert("m\(next)", at: dice.roll(host.count + 1))
                default: host.append("m\(next)")
                }
                next += 1
            }
            let before = try await history.stored()
            let start = dice.roll(host.count)
            let end = min(host.count, start + 1 + dice.roll(15))
            try await history.page(Array(host[start..<end]), at: start, isEnd: end == host.count)
            let stored = try await history.stored()
            let place = try #require(stored.firstIndex(of: host[start]))
            #expect(stored[place...].prefix(end - start).elementsEqual(host[start..<end]))
            #expect(Set(before).intersection(host).isSubset(of: stored))
        }
    }

    @Test("A list replaces the last one; what it lacks is hidden, comes back if it is listed, and goes after a day")
    func lists() async throws {
        let history = try TestHistory()
        let id = TestHistory.host.id
        try await history.list(projects: ["p", "q"])
        try await history.list(chats: ["c", "d", "e"])
        try await history.page(["m=words of c"], chat: "c")
        try await history.list(chats: ["e", "d"])
        #expect(try await history.store.chats(hostID: id, projectID: "p")?.value.map(\.id) == ["e", "d"])
        #expect(try await history.found("words").isEmpty)
        try await history.list(chats: ["c", "d"])
        #expect(try await history.found("words") == ["m"])
        try await history.list(chats: ["d"])
        try await history.page(["n=sentence of d"], chat: "d")
        try await history.list(projects: ["q"])
        #expect(try await history.store.projects(hostID: id)?.value.map(\.id) == ["q"])
        // With its project, a chat is hidden everywhere, and comes back with it.
        #expect(try await history.found("sentence").isEmpty)
        #expect(try await history.found("about").isEmpty)
        #expect(try await history.store.allChats().isEmpty)
        #expect(try await history.store.status().chats == 0)
        try await history.list(projects: ["p", "q"])
        #expect(try await history.found("sentence") == ["n"])
        try await history.list(projects: ["q"])
        _ = try await history.store.prune(HistoryLimits(), now: TestHistory.now.addingTimeInterval(3600))
        #expect(try await history.store.status().messages == 2)
        _ = try await history.store.prune(HistoryLimits(), now: TestHistory.now.addingTimeInterval(90_000))
        #expect(try await history.store.status().messages == 0)
        try await history.list(projects: ["p", "q"])
        #expect(try await history.store.chats(hostID: id, projectID: "p") == nil)
    }

    @Test("A chat that moves to another project keeps its messages")
    func movedChat() async throws {
        let history = try TestHistory()
        try await history.list(projects: ["p", "q"])
        try await history.list(chats: ["c"], in: "p")
        try await history.page(["m"])
        try await history.list(chats: [], in: "p")
        try await history.list(chats: ["c"], in: "q")
        #expect(try await history.store.chats(hostID: TestHistory.host.id, projectID: "q")?.value.count == 1)
        #expect(try await history.stored() == ["m"])
    }

    @Test("Ids are compared byte by byte")
    func bytes() async throws {
        let history = try TestHistory()
        try await history.page(["e\u{301}=one", "\u{E9}=two", "E\u{301}=three"])
        #expect(try await history.stored().count == 3)
    }

    @Test("What is said is kept at once, and replaced by the host's own messages, which get the tools")
    func turns() async throws {
        let history = try TestHistory()
        let (store, host, now) = (history.store, TestHistory.host, TestHistory.now)
        try await history.list(projects: ["p"])
        try await history.list(chats: ["c"])
        try await history.page(["a"])
        let key = try #require(try await store.keepPrompt("fix the pump", chatID: "c", of: host, at: now))
        try await store.keepTool(HistoryTool(id: "1", name: "read_file", success: nil, at: now), of: key)
        try await store.keepTool(
            HistoryTool(id: "1", name: "read_file", detail: "pump.py", success: true, at: now),
            of: key
        )
        try await store.keepAnswer("Done: valve", to: key, interrupted: false, at: now)
        #expect(try await history.found("valve").count == 1)
        #expect(try await history.stored().count == 3)
        try await store.keep(
            messages: [
                CompanionMessage(id: "a", role: .assistant, text: "a", createdAt: nil),
                CompanionMessage(id: "u", role: .user, text: "fix the pump", createdAt: nil),
                CompanionMessage(id: "v", role: .assistant, text: "Done: valve", createdAt: nil),
            ],
            offset: 0,
            isEnd: true,
            chatID: "c",
            of: host,
            at: now
        )
        let chat = try #require(try await store.allChats().first)
        let messages = try await store.messages(of: chat)
        #expect(messages.map(\.message.id) == ["a", "u", "v"])
        #expect(messages[1].tools.map(\.detail) == ["pump.py"] && messages[1].tools[0].success == true)
        #expect(try await history.found("pump.py") == ["u"])
        // An answer that comes after the host's own messages were read is theirs.
        try await store.keepAnswer("late", to: key, interrupted: false, at: now)
        #expect(try await history.found("late").isEmpty)
    }

    @Test("What still comes for a chat of a forgotten host gets into no other host's chat")
    func forgottenMeanwhile() async throws {
        let history = try TestHistory()
        let (store, now) = (history.store, TestHistory.now)
        let gone = try #require(try await store.keepPrompt("of the Mac", chatID: "c", of: TestHistory.host, at: now))
        try await store.forget(hostID: TestHistory.host.id)
        // The database gives the removed message's key to this one.
        let other = try #require(try await store.keepPrompt("of Lumi", chatID: "c", of: TestHistory.other, at: now))
        #expect(other.key == gone.key)
        try await store.keepTool(HistoryTool(id: "1", name: "read_file", success: nil, at: now), of: gone)
        try await store.keepAnswer("secret", to: gone, interrupted: false, at: now)
        let chat = try #require(try await store.allChats().first)
        let messages = try await store.messages(of: chat)
        #expect(messages.map(\.message.text) == ["of Lumi"] && messages[0].tools.isEmpty)
    }

    @Test("Chats that changed since they were read to their end are known; those never read to it are not among them")
    func changedChats() async throws {
        let history = try TestHistory()
        let (store, later) = (history.store, TestHistory.now + 60)
        try await history.list(projects: ["p"])
        try await history.list(chats: ["read", "part", "said"])
        try await history.page(["a"], chat: "read")
        try await history.page(["a"], isEnd: false, chat: "part")
        _ = try await store.keepPrompt("hi", chatID: "said", of: TestHistory.host, at: TestHistory.now)
        #expect(try await store.changedChats(hostID: TestHistory.host.id, limit: 9).isEmpty)
        try await history.list(chats: ["read", "part", "said"], at: later)
        #expect(try await store.changedChats(hostID: TestHistory.host.id, limit: 9) == ["read"])
    }

    /// Takes messages of the host, as `id=text`, of the user if the text has a `?`, at seconds after the start.
    private func read(_ history: TestHistory, _ messages: [(String, Double)], at seconds: Double) async throws {
        try await history.store.keep(
            messages: messages.map { message, time in
                let parts = message.parts("=", maxSplits: 1)
                return CompanionMessage(
                    id: String(parts[0]),
                    role: parts[1].utf8.contains(UInt8(ascii: "?")) ? .user : .assistant,
                    text: String(parts[1]),
                    createdAt: TestHistory.now.addingTimeInterval(time)
                )
            },
            offset: 0,
            isEnd: true,
            chatID: "c",
            of: TestHistory.host,
            at: TestHistory.now.addingTimeInterval(seconds)
        )
    }

    /// Writes down a turn with a tool that has the prompt's text as its name.
    private func say(_ history: TestHistory, _ prompt: String, _ answer: String?, at seconds: Double) async throws {
        let (store, time) = (history.store, TestHistory.now.addingTimeInterval(seconds))
        let kept = try await store.keepPrompt(prompt, chatID: "c", of: TestHistory.host, at: time)
        let key = try #require(kept)
        try await store.keepTool(HistoryTool(id: "1", name: "tool of \(prompt)", success: true, at: time), of: key)
        if let answer { try await store.keepAnswer(answer, to: key, interrupted: false, at: time) }
    }

    /// Texts with the tools behind them.
    private func shown(_ history: TestHistory) async throws -> [String] {
        guard let chat = try await history.store.allChats().first else { return [] }
        return try await history.store.messages(of: chat).map { message in
            ([message.message.text] + message.tools.map(\.name)).joined(separator: " + ")
        }
    }

    @Test("What was said stays until the host has it, or has said something since; no other prompt gets its tools")
    func notStored() async throws {
        let history = try TestHistory()
        try await read(history, [("a=one?", 0), ("b=First.", 1)], at: 2)
        try await say(history, "two?", "Second.", at: 10)
        // The host stores it late.
        let early = ["one?", "First.", "two? + tool of two?", "Second."]
        for _ in 0..<2 {
            try await read(history, [("a=one?", 0), ("b=First.", 1)], at: 12)
            #expect(try await shown(history) == early)
            #expect(try await history.store.unreadCount(hostID: TestHistory.host.id, chatID: "c") == 0)
        }
        try await read(history, [("a=one?", 0), ("b=First.", 1), ("c=two?\n", 9), ("d=Second.", 11)], at: 14)
        #expect(try await shown(history) == ["one?", "First.", "two?\n + tool of two?", "Second."])
        // It has lost this one, and goes on.
        try await say(history, "lost?", "Gone.", at: 20)
        let rest = [("c=two?\n", 9.0), ("d=Second.", 11), ("e=three?", 30), ("f=Third.", 31)]
        try await read(history, [("a=one?", 0), ("b=First.", 1)] + rest, at: 32)
        #expect(
            try await shown(history) == ["one?", "First.", "two?\n + tool of two?", "Second.", "three?", "Third."]
        )
    }

    @Test("An answer stays while the host has nothing in its place")
    func lostAnswer() async throws {
        let history = try TestHistory()
        try await say(history, "one?", "First.", at: 10)
        for _ in 0..<2 {
            try await read(history, [("a=one?", 9)], at: 12)
            #expect(try await shown(history) == ["one? + tool of one?", "First."])
        }
        try await read(history, [("a=one?", 9), ("b=The host's.", 11)], at: 13)
        #expect(try await shown(history) == ["one? + tool of one?", "The host's."])
    }

    @Test("Of equal prompts, each gets the tools of its own turn, and one that was read before gets none")
    func equalPrompts() async throws {
        let history = try TestHistory()
        try await read(history, [("a=go?", 0)], at: 1)
        try await say(history, "go?", "One.", at: 100)
        try await say(history, "go?", nil, at: 200)
        let host = [("a=go?", 0.0), ("b=go?", 99), ("c=One.", 101)]
        try await read(history, host, at: 201)
        #expect(try await shown(history) == ["go?", "go? + tool of go?", "One.", "go? + tool of go?"])
        try await read(history, host + [("d=go?", 199)], at: 202)
        let messages = try await history.store.messages(of: try #require(try await history.store.allChats().first))
        #expect(messages.map(\.message.id) == ["a", "b", "c", "d"])
        #expect(
            messages.map { $0.tools.map(\.at) }
                == [[], [100], [], [200]].map { times in
                    times.map { TestHistory.now.addingTimeInterval($0) }
                }
        )
    }

    @Test("An empty chat of the host does not remove what was just said")
    func emptyChat() async throws {
        let history = try TestHistory()
        try await say(history, "one?", nil, at: 10)
        try await read(history, [], at: 12)
        #expect(try await shown(history) == ["one? + tool of one?"])
    }
}

/// Numbers from a seed.
struct Dice {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func roll(_ sides: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(sides))
    }
}
