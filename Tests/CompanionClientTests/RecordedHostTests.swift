import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@testable import CompanionClient
@testable import History

@Suite struct RecordedHostTests {
    /// A host with one chat, which notes where pages begin.
    private struct Host: ProjectBrowsing, ChatBrowsing, EventReporting {
        /// When its chat was changed last.
        let changed = NIOLockedValueBox(Date(timeIntervalSince1970: 1_700_000_000))
        let messages = NIOLockedValueBox<[String]>([])
        let asked = NIOLockedValueBox<[String]>([])
        /// Whether it finds the end of its chat.
        let knowsLast: Bool

        func projects() -> [CompanionProject] {
            [CompanionProject(id: "p", name: "garden", localPath: "/garden", lastUpdatedAt: nil)]
        }

        func chats(projectID: String) -> [CompanionChat] {
            [
                CompanionChat(
                    id: "c",
                    projectId: projectID,
                    title: "beds",
                    lastUpdatedAt: changed.withLockedValue(\.self)
                )
            ]
        }

        func run(
            every interval: Duration,
            progress: LiveProgress,
            patience: Int?,
            _ take: (LiveEventStream.Output) async throws -> Void
        ) async throws {
            try await take(.event(LiveEvent(.hello, at: Date())))
        }

        func messagesPage(chatID: String, cursor: String?, limit: Int) -> CompanionMessagesPageResponse {
            asked.withLockedValue { $0.append(cursor ?? "") }
            let all = messages.withLockedValue(\.self)
            let start = min(cursor.flatMap { Int($0) } ?? 0, all.count)
            let end = min(start + limit, all.count)
            return CompanionMessagesPageResponse(
                chatId: chatID,
                messages: all[start..<end].map { CompanionMessage(id: $0, role: .user, text: $0, createdAt: nil) },
                nextCursor: end < all.count ? "\(end)" : nil
            )
        }

        func lastPage(chatID: String, count: Int, limit: Int) -> CompanionMessagesPageResponse? {
            guard knowsLast else { return nil }
            let start = "\(max(0, messages.withLockedValue { $0.count } - count))"
            var page = messagesPage(chatID: chatID, cursor: start, limit: limit)
            page.firstCursor = start
            return page
        }
    }

    private static let paired = HistoryHost(
        id: "0123456789abcdef",
        name: "Mac",
        family: .copilotforge,
        pairedAt: Date(timeIntervalSince1970: 1_700_000_000)
    )

    private func withRecorded(
        knowsLast: Bool = false,
        _ body: (Host, HostClient, HistoryStore, HistoryRecorder) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { folder in
            let store = try await HistoryStore.open(path: "\(folder)/history.db")
            let history = LocalHistory(store, limits: HistoryLimits()) { Issue.record("\($0)") }
            let recorder = HistoryRecorder(history, host: Self.paired, now: { Date() })
            let host = Host(knowsLast: knowsLast)
            let client = HostClient(projects: host, chats: host, events: host).recorded(by: recorder, deviceID: "d")
            try await body(host, client, store, recorder)
            await store.close()
        }
    }

    @Test("A host that was forgotten meanwhile is listed and read as before, and nothing of it is written down")
    func forgotten() async throws {
        try await withRecorded { host, client, store, recorder in
            host.messages.withLockedValue { $0 = ["m1"] }
            let (projects, chats) = (try #require(client.projects), try #require(client.chats))
            #expect(try await projects.projects().count == 1)
            #expect(try await store.hosts().count == 1)
            await recorder.forget()
            #expect(try await projects.projects().count == 1)
            #expect(try await chats.lastMessages(chatID: "c", count: 5).map(\.id) == ["m1"])
            #expect(try await store.hosts().isEmpty)
        }
    }

    @Test("The last messages of a chat are read on from where it ended before, as long as the host's are the same")
    func readOn() async throws {
        try await withRecorded { host, client, store, _ in
            let chats = try #require(client.chats)
            func last(_ change: (inout [String]) -> Void) async throws -> [String] {
                host.messages.withLockedValue(change)
                host.asked.withLockedValue { $0 = [] }
                let found = try await chats.lastMessages(chatID: "c", count: 20).map(\.id)
                #expect(found == Array(host.messages.withLockedValue(\.self).suffix(20)))
                return host.asked.withLockedValue(\.self)
            }
            func stored() async throws -> [String] {
                let page = try await store.messages(hostID: Self.paired.id, chatID: "c", cursor: 0, limit: 1000)
                return page?.value.messages.elements.map(\.id) ?? []
            }
            #expect(try await last { $0 = (0..<300).map { "m\($0)" } }.first?.isEmpty == true)
            #expect(try await last { _ in } == ["250"])
            #expect(try await last { $0 += ["n0", "n1"] } == ["250"])
            #expect(try await stored() == host.messages.withLockedValue(\.self))
            // What changes before the place is noticed, and so is what changes behind it.
            let changes: [(inout [String]) -> Void] = [
                { $0.remove(at: 7) }, { $0.insert("new", at: 9) }, { $0.swapAt(290, 295) }, { $0.removeLast(260) },
                { $0 = ["other"] }, { $0 = [] },
            ]
            for change in changes {
                _ = try await last(change)
                #expect(try await stored() == host.messages.withLockedValue(\.self))
            }
        }
    }

    @Test("Of a host that finds the end of a chat one page is read, and kept where it is in the chat")
    func last() async throws {
        try await withRecorded(knowsLast: true) { host, client, store, _ in
            let chats = try #require(client.chats)
            host.messages.withLockedValue { $0 = (0..<1000).map { "m\($0)" } }
            #expect(try await chats.lastMessages(chatID: "c", count: 5).map(\.id) == (995..<1000).map { "m\($0)" })
            host.messages.withLockedValue { $0.append("n0") }
            #expect(try await chats.lastMessages(chatID: "c", count: 2).map(\.id) == ["m999", "n0"])
            #expect(host.asked.withLockedValue(\.self) == ["950", "951"])
            #expect(try await store.unreadCount(hostID: Self.paired.id, chatID: "c") == 950)
            let known = StoredHost(store, hostID: Self.paired.id)
            #expect(try await known.lastMessages(chatID: "c", count: 3).map(\.id) == ["m998", "m999", "n0"])
        }
    }

    @Test("Of a short chat all is kept, however few messages are wanted")
    func fewOfFew() async throws {
        try await withRecorded(knowsLast: true) { host, client, store, _ in
            host.messages.withLockedValue { $0 = ["m0", "m1"] }
            let chats = try #require(client.chats)
            #expect(try await chats.lastMessages(chatID: "c", count: 1).map(\.id) == ["m1"])
            let page = try await store.messages(hostID: Self.paired.id, chatID: "c", cursor: 0, limit: 10)
            #expect(page?.value.messages.elements.map(\.id) == ["m0", "m1"])
        }
    }

    @Test("A prompt to a host of protocol 1 reads its chat from where it was read to before")
    func prompt() async throws {
        try await withRecorded { _, _, _, recorder in
            try await withPeers(.with { $0.fill("c-login", count: 1000) }) { mac, client async throws in
                let turns = StreamedTurns(client: client, deviceID: "d", now: { Date() })
                let host = HostClient(chats: client, turns: turns).recorded(by: recorder, deviceID: "d")
                let (chats, recorded) = (try #require(host.chats), try #require(host.turns))
                _ = try await chats.lastMessages(chatID: "c-login", count: 20)
                let read = mac.requests.count
                let request = TurnRequest(prompt: "Hi", model: "m")
                for try await _ in recorded.turn(chatID: "c-login", request: request) {}
                let pages = mac.requests.dropFirst(read).filter { $0.path.hasSuffix("/messages") }
                #expect(pages.map(\.target) == ["/companion/chats/c-login/messages?cursor=950&limit=200"])
                #expect(mac.prompts == 1)
            }
        }
    }

    @Test("A watch begins with what became new in chats that were read before, and asks for nothing else")
    func caughtUp() async throws {
        try await withRecorded { host, client, store, _ in
            let (chats, events) = (try #require(client.chats), try #require(client.events))
            func watch() async throws -> [String] {
                host.asked.withLockedValue { $0 = [] }
                try await events.run(every: .seconds(1), progress: LiveProgress(), patience: nil) { _ in }
                return host.asked.withLockedValue(\.self)
            }
            host.messages.withLockedValue { $0 = ["m0", "m1"] }
            #expect(try await watch().isEmpty)
            _ = try await client.projects?.projects()
            _ = try await client.projects?.chats(projectID: "p")
            _ = try await chats.lastMessages(chatID: "c", count: 20)
            #expect(try await watch().isEmpty)
            host.messages.withLockedValue { $0.append("m2") }
            host.changed.withLockedValue { $0 += 60 }
            #expect(try await watch() == ["0"])
            let page = try await store.messages(hostID: Self.paired.id, chatID: "c", cursor: 0, limit: 9)
            #expect(page?.value.messages.elements.map(\.id) == ["m0", "m1", "m2"])
            #expect(try await watch().isEmpty)
        }
    }
}
