import CompanionWire
import FoundationEssentials
import GRDB
import Testing

@testable import History

/// Chats that are kept here alone, and chats that are pulled as a whole.
@Suite struct KeptChatTests {
    private static let lumi = TestHistory.other

    private func chat(_ id: String, _ messages: [KeptMessage]) -> KeptChat {
        KeptChat(
            id: id,
            projectID: "agent",
            title: "about \(id)",
            participants: ["agent", "other"],
            messages: messages,
            updatedAt: TestHistory.now
        )
    }

    private func message(
        _ id: String,
        at seconds: Double = 0,
        interrupted: Bool = false,
        picture: [UInt8]? = nil
    ) -> KeptMessage {
        KeptMessage(
            id: id,
            role: "assistant",
            text: "text of \(id)",
            author: "agent",
            createdAt: TestHistory.now.addingTimeInterval(seconds),
            interrupted: interrupted,
            picture: picture
        )
    }

    private func participants(_ chat: String, in history: TestHistory) async throws -> [String]? {
        try await history.store.keptChat(id: chat, hostID: Self.lumi.id)?.participants
    }

    private func pull(_ chats: [KeptChat], into history: TestHistory) async throws {
        try await history.store.take(pulled: chats, mark: 7, of: Self.lumi, at: TestHistory.now)
    }

    private func add(_ chat: KeptChat, to history: TestHistory, pictures: Int = 2) async throws {
        try await history.store.add(own: chat, pictures: pictures, of: Self.lumi, at: TestHistory.now)
    }

    private func ids(_ chat: String, in history: TestHistory) async throws -> [String]? {
        try await history.store.keptChat(id: chat, hostID: Self.lumi.id)?.messages.map(\.id)
    }

    @Test("What is kept here stays among what is pulled, by its time, and nothing is doubled")
    func merged() async throws {
        let history = try TestHistory()
        for _ in 0..<2 {
            try await pull([chat("c", [message("a"), message("d", at: 30)])], into: history)
            try await add(chat("c", [message("b", at: 10), message("c", at: 20)]), to: history)
            #expect(try await ids("c", in: history) == ["a", "b", "c", "d"])
        }
        // The host has removed a message and added another.
        try await pull([chat("c", [message("a"), message("e", at: 40)])], into: history)
        #expect(try await ids("c", in: history) == ["a", "b", "c", "e"])
        let found = try await history.store.keptChat(id: "c", hostID: Self.lumi.id)
        #expect(found?.participants == ["agent", "other"])
        #expect(found?.title == "about c")
        // And then the chat.
        try await pull([], into: history)
        #expect(try await ids("c", in: history) == ["b", "c"])
        #expect(try await history.store.unreadCount(hostID: Self.lumi.id, chatID: "c") == 0)
        #expect(try await history.store.pulledMark(hostID: Self.lumi.id) == 7)
    }

    @Test("Who takes part is what was pulled last; what is said here meanwhile does not change it")
    func whoTakesPart() async throws {
        let history = try TestHistory()
        let before = chat("c", [message("a")])
        var changed = before
        changed.participants = ["third"]
        try await pull([before], into: history)
        try await pull([changed], into: history)
        // The turn began before the second pull.
        var turn = before
        turn.messages = [message("b", at: 10)]
        try await add(turn, to: history)
        #expect(try await ids("c", in: history) == ["a", "b"])
        #expect(try await participants("c", in: history) == ["third"])
    }

    @Test("A pulled chat stays though its project is gone here; one of another host goes with its project")
    func goneProject() async throws {
        let history = try TestHistory()
        let agent = CompanionProject(id: "agent", name: "Ada", localPath: "", lastUpdatedAt: nil)
        try await pull([chat("c", [message("a")])], into: history)
        try await history.list(projects: ["p"])
        try await history.list(chats: ["x"])
        try await history.page(["y"], chat: "x")
        for projects in [[agent], []] {
            try await history.store.keep(projects: projects, of: Self.lumi, at: TestHistory.now)
        }
        try await history.list(projects: [])
        let later = TestHistory.now.addingTimeInterval(2 * 24 * 3600)
        #expect(try await history.store.prune(HistoryLimits(), now: later) == 1)
        #expect(try await ids("c", in: history) == ["a"])
        // Nothing of what was pulled was removed.
        #expect(try await history.store.pulledMark(hostID: Self.lumi.id) == 7)
    }

    @Test("No limit removes what is kept here alone; the limits hold for what can be pulled again")
    func limits() async throws {
        let history = try TestHistory()
        try await pull([chat("pulled", [message("a")]), chat("mixed", [message("b")])], into: history)
        try await add(chat("mixed", [message("c")]), to: history)
        try await add(chat("own", [message("d", picture: [UInt8](repeating: 1, count: 100_000))]), to: history)
        let year = TestHistory.now.addingTimeInterval(366 * 24 * 3600)
        let removed = try await history.store.prune(HistoryLimits(age: 24 * 3600, size: 1), now: year)
        #expect(removed == 1)
        #expect(try await ids("pulled", in: history) == nil)
        #expect(try await ids("mixed", in: history) == ["b", "c"])
        #expect(try await ids("own", in: history) == ["d"])
        // The next pull is taken, although it is the same.
        #expect(try await history.store.pulledMark(hostID: Self.lumi.id) == nil)
        // A chat that the host no longer lists.
        try await pull([], into: history)
        _ = try await history.store.prune(HistoryLimits(), now: year)
        #expect(try await ids("mixed", in: history) == ["c"])
    }

    @Test("Clearing leaves what is kept here alone unless that is asked for; forgetting a host does not")
    func cleared() async throws {
        let history = try TestHistory()
        try await history.page(["x"])
        try await pull([chat("pulled", [message("a")])], into: history)
        try await add(chat("own", [message("b")]), to: history)
        #expect(try await history.store.status().keptChats == 1)
        let hosts = [TestHistory.host.id, Self.lumi.id]
        #expect(try await history.store.clear(hostIDs: hosts + hosts) == 1)
        #expect(try await history.store.status().messages == 1)
        #expect(try await history.found("text") == ["b"])
        #expect(try await history.store.pulledMark(hostID: Self.lumi.id) == nil)
        #expect(try await history.store.clear(hostIDs: hosts, keptChats: true) == 0)
        #expect(try await history.store.status().messages == 0)
        try await add(chat("own", [message("b")]), to: history)
        try await history.store.forget(hostID: Self.lumi.id)
        #expect(try await history.store.status().messages == 0)
    }

    @Test("Pictures and broken-off answers are kept, the last pictures of what was said here, and shown as marks")
    func pictures() async throws {
        let history = try TestHistory()
        let messages = (1...3).map { message("\($0)", at: Double($0), picture: [UInt8($0)]) }
        try await add(chat("c", messages + [message("4", at: 4, interrupted: true)]), to: history)
        let found = try #require(try await history.store.keptChat(id: "c", hostID: Self.lumi.id))
        #expect(found.messages.map(\.picture) == [nil, [2], [3], nil])
        #expect(found.messages.map(\.interrupted) == [false, false, false, true])
        let page = try await history.store.messages(hostID: Self.lumi.id, chatID: "c", cursor: 0, limit: 9)
        let texts = page?.value.messages.elements.map(\.text)
        #expect(
            texts == ["text of 1", "text of 2 [picture]", "text of 3 [picture]", "text of 4 [broken off]"]
        )
    }
}
