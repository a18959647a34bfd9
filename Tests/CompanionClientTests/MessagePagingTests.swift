import CompanionTestSupport
import CompanionWire
import NIOConcurrencyHelpers
import Testing

@testable import CompanionClient

@Suite struct MessagePagingTests {
    @Test(arguments: [0, 1, 199, 200, 201, 1001])
    func `all messages come in order, each once`(_ count: Int) async throws {
        try await withPeers(.with { $0.fill("c-login", count: count) }) { mac, client async throws in
            var ids: [String] = []
            for try await message in client.messages(chatID: "c-login") { ids.append(message.id) }
            #expect(ids == (0..<count).map { "m-\($0)" })
            #expect(mac.requests.count == max((count + 199) / 200, 1))
        }
    }

    @Test(arguments: [(0, 0), (1, 1), (5, 5), (450, 450), (900, 450)])
    func `the last messages are the last ones, oldest first`(_ asked: Int, _ got: Int) async throws {
        try await withPeers(.with { $0.fill("c-login", count: 450) }) { _, client async throws in
            let last = try await client.lastMessages(chatID: "c-login", count: asked)
            #expect(last.map(\.id) == ((450 - got)..<450).map { "m-\($0)" })
        }
    }

    @Test func `messages that shift while one pages come once`() async throws {
        try await withPeers(.with { $0.fill("c-login", count: 600) }) { mac, client async throws in
            var ids: [String] = []
            for try await message in client.messages(chatID: "c-login") {
                ids.append(message.id)
                guard ids.count == 200 else { continue }
                mac.change { script in
                    let old = (0..<150).map {
                        CompanionMessage(id: "old-\($0)", role: .user, text: "", createdAt: nil)
                    }
                    script.messages["c-login"]?.insert(contentsOf: old, at: 0)
                }
            }
            #expect(ids == (0..<600).map { "m-\($0)" })
        }
    }

    @Test(arguments: ["0", "-5", "same", ""])
    func `a cursor that does not lead on ends the walk`(_ cursor: String) async throws {
        let page =
            #"{"ok":true,"chatId":"c","messages":[{"id":"a","role":"user","text":"t"}],"nextCursor":"\#(cursor)"}"#
        try await withPeers(.with { $0.faults = [FakeMacFault(.json(status: 200, page))] }) {
            mac,
            client async throws in
            var ids: [String] = []
            for try await message in client.messages(chatID: "c") { ids.append(message.id) }
            #expect(ids == ["a"])
            #expect(mac.requests.count <= 2)
        }
    }

    @Test func `a page without messages ends the walk`() async throws {
        let page = #"{"ok":true,"chatId":"c","messages":[],"nextCursor":"200"}"#
        try await withPeers(.with { $0.faults = [FakeMacFault(.json(status: 200, page))] }) {
            mac,
            client async throws in
            for try await message in client.messages(chatID: "c") { Issue.record("\(message)") }
            #expect(mac.requests.count == 1)
        }
    }

    @Test func `the page's limit stays within the bounds of the host`() async throws {
        try await withPeers(.with { $0.fill("c-login", count: 300) }) { mac, client async throws in
            #expect(try await client.messagesPage(chatID: "c-login").messages.elements.count == 50)
            #expect(try await client.messagesPage(chatID: "c-login", cursor: "250", limit: 1000).nextCursor == nil)
            #expect(
                try await client.messagesPage(chatID: "c-login", cursor: "7", limit: 0).messages.elements.map(\.id) == [
                    "m-7"
                ]
            )
            #expect(mac.requests.map(\.target).last == "/companion/chats/c-login/messages?cursor=7&limit=1")
        }
    }

    /// Makes pages as it is asked, so that the test itself holds none.
    private struct LongChat: ChatBrowsing {
        let count: Int
        let pages = NIOLockedValueBox(0)

        func messagesPage(chatID: String, cursor: String?, limit: Int) -> CompanionMessagesPageResponse {
            pages.withLockedValue { $0 += 1 }
            let start = cursor.flatMap(Int.init) ?? 0
            let end = min(start + limit, count)
            let messages = (start..<end).map {
                CompanionMessage(id: "message-\($0)", role: .user, text: "text", createdAt: nil)
            }
            return CompanionMessagesPageResponse(
                chatId: chatID,
                messages: messages,
                nextCursor: end < count ? "\(end)" : nil
            )
        }
    }

    @Test func `a hundred thousand messages pass through a page and a window of ids`() async throws {
        let chat = LongChat(count: 100_000)
        var iterator = chat.messages(chatID: "c").makeAsyncIterator()
        var count = 0
        var isInOrder = true
        var most = (messages: 0, ids: 0)
        while let message = try await iterator.next() {
            isInOrder = isInOrder && message.id == "message-\(count)"
            count += 1
            most = (max(most.messages, iterator.retained.messages), max(most.ids, iterator.retained.ids))
        }
        #expect(count == 100_000)
        #expect(isInOrder)
        #expect(chat.pages.withLockedValue { $0 } == 500)
        #expect(most.messages < 200)
        #expect(most.ids == MessagePages.window)
    }

    @Test func `the window forgets the oldest id first`() {
        var recent = RecentIdentifiers(capacity: 2)
        let isNew = ["a", "b", "a", "c", "b", "c", "a"].map { recent.insert($0) }
        #expect(isNew == [true, true, false, true, false, false, true])
        #expect(recent.count == 2)
    }

    @Test func `ids that only look the same are two`() {
        var recent = RecentIdentifiers(capacity: 2)
        let isNew = ["caf\u{E9}", "cafe\u{301}", "caf\u{E9}"].map { recent.insert($0) }
        #expect(isNew == [true, true, false])
    }
}
