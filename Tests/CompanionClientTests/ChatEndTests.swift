import CompanionTestSupport
import CompanionWire
import NIOConcurrencyHelpers
import Testing

@testable import CompanionClient

@Suite struct ChatEndTests {
    @Test(arguments: [0, 1, 200, 201, 1000, 1001])
    func `the end of a chat of any length is found`(_ count: Int) async throws {
        try await withPeers(.with { $0.fill("c-login", count: count) }) { mac, client async throws in
            let position = try await client.historyPosition(chatID: "c-login")
            #expect(position.identifiers.last == (count == 0 ? nil : "m-\(count - 1)"))
            #expect(position.cursor == (count <= 200 ? nil : "\((count - 1) / 200 * 200)"))
            for asked in [1, 20, 199, 450, 100_000] {
                let last = try await client.lastMessages(chatID: "c-login", count: asked)
                #expect(last.map(\.id) == (max(count - asked, 0)..<count).map { "m-\($0)" })
            }
            #expect(!mac.requests.contains { $0.target.contains("last=") }, "protocol 1 does not have it")
        }
    }

    /// A host of protocol 2 with a chat of 1,000 messages.
    ///
    /// - Parameters:
    ///   - knowsLast: Whether it finds the chat's end.
    ///   - broken: The number of a message that cannot be read.
    private func answer(knowsLast: Bool, broken: Int? = nil) -> TLSTestHost.Answer {
        { request, _ in
            func number(_ name: String) -> Int? {
                let fields = request.target.split { $0 == "?" || $0 == "&" }
                return fields.first { $0.hasPrefix("\(name)=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
            }
            let last = knowsLast ? number("last") : nil
            let start = last.map { max(0, 1000 - $0) } ?? number("cursor") ?? 0
            let end = min(start + (number("limit") ?? 50), 1000)
            let messages = (start..<end).map { number in
                number == broken ? "7" : #"{"id":"m-\#(number)","role":"user","text":"t"}"#
            }
            let next = end < 1000 ? "\"\(end)\"" : "null"
            let first = last == nil ? "" : #","firstCursor":"\#(start)""#
            let list = messages.joined(separator: ",")
            return [.json(200, #"{"ok":true,"chatId":"c","messages":[\#(list)],"nextCursor":\#(next)\#(first)}"#)]
        }
    }

    @Test(arguments: [(5, 1), (200, 1), (450, 3), (100_000, 5)])
    func `a host of protocol 2 gives the last messages, and no others`(_ asked: Int, _ pages: Int) async throws {
        try await withTLSTestHost(answer: answer(knowsLast: true)) { host in
            let last = try await host.withClient(StubCredentials(token: "t")) {
                try await $0.lastMessages(chatID: "c", count: asked)
            }
            #expect(last.map(\.id) == (max(1000 - asked, 0)..<1000).map { "m-\($0)" })
            #expect(host.requests.count == pages)
            #expect(host.requests.first?.target == "/companion/chats/c/messages?last=\(max(asked, 50))&limit=200")
        }
    }

    @Test func `a host that does not know the end is read page by page`() async throws {
        try await withTLSTestHost(answer: answer(knowsLast: false)) { host in
            let last = try await host.withClient(StubCredentials(token: "t")) {
                try await $0.lastMessages(chatID: "c", count: 5)
            }
            #expect(last.map(\.id) == (995..<1000).map { "m-\($0)" })
            #expect(host.requests.count == 6)
        }
    }

    @Test func `for a message that cannot be read, an earlier one is given`() async throws {
        try await withTLSTestHost(answer: answer(knowsLast: true, broken: 998)) { host in
            let last = try await host.withClient(StubCredentials(token: "t")) {
                try await $0.lastMessages(chatID: "c", count: 3)
            }
            #expect(last.map(\.id) == ["m-996", "m-997", "m-999"])
        }
    }

    /// A host whose cursors are as large as numbers can be.
    private struct LargeChat: ChatBrowsing {
        func messagesPage(
            chatID: String,
            cursor: String?,
            limit: Int
        ) throws -> CompanionMessagesPageResponse {
            let start = Int(cursor ?? "0") ?? 0
            let (end, isTooLarge) = start.addingReportingOverflow(1)
            let next = isTooLarge ? Int.max : end
            let message = CompanionMessage(id: "m-\(start)", role: .user, text: "", createdAt: nil)
            return CompanionMessagesPageResponse(
                chatId: chatID,
                messages: [message],
                nextCursor: String(next)
            )
        }
    }

    @Test(arguments: [2, 1, 0])
    func `cursors that are too large to be counted on are no offsets`(_ left: Int) async throws {
        let position = HistoryPosition(cursor: String(Int.max - left), identifiers: [])
        let end = try await LargeChat().historyPosition(chatID: "c", from: position)
        #expect(end.cursor == String(Int.max))
    }

    /// A host with ways of its own.
    private struct OddChat: ChatBrowsing {
        enum Way: CaseIterable {
            /// An offset behind the end gives the last message.
            case clampsToLast
            case refusesBehindEnd
            /// Cursors are texts.
            case namesPages
            /// Cursors are numbers, but of something else.
            case countsInTens
            /// Says that there is more where nothing is.
            case promisesMore
            case honest
        }

        let way: Way
        let count: Int

        func messagesPage(
            chatID: String,
            cursor: String?,
            limit: Int
        ) throws -> CompanionMessagesPageResponse {
            var start = number(cursor ?? "0")
            if start >= count, way == .clampsToLast { start = count - 1 }
            if start > count, way == .refusesBehindEnd {
                throw CompanionClientError(.badRequest, message: "no such page")
            }
            let end = min(start + limit, count)
            let messages = (start..<max(end, start)).map {
                CompanionMessage(id: "m-\($0)", role: .user, text: "", createdAt: nil)
            }
            let hasMore = end < count || (way == .promisesMore && messages.isEmpty)
            return CompanionMessagesPageResponse(
                chatId: chatID,
                messages: messages,
                nextCursor: hasMore ? text(end) : nil
            )
        }

        private func number(_ cursor: String) -> Int {
            switch way {
            case .namesPages: Int(cursor.drop { $0 == "p" }) ?? 0
            case .countsInTens: (Int(cursor) ?? 0) / 10
            default: Int(cursor) ?? 0
            }
        }

        private func text(_ offset: Int) -> String {
            switch way {
            case .namesPages: "p\(offset)"
            case .countsInTens: "\(offset * 10)"
            default: "\(offset)"
            }
        }
    }

    @Test(arguments: OddChat.Way.allCases, [1, 399, 2000, 2001])
    private func `hosts with ways of their own are walked through`(_ way: OddChat.Way, _ count: Int) async throws {
        let chat = OddChat(way: way, count: count)
        #expect(try await chat.historyPosition(chatID: "c").identifiers.last == "m-\(count - 1)")
        let last = try await chat.lastMessages(chatID: "c", count: 250)
        #expect(last.map(\.id) == (max(count - 250, 0)..<count).map { "m-\($0)" })
    }

    @Test(arguments: [OddChat.Way.honest, .promisesMore, .refusesBehindEnd, .clampsToLast])
    private func `the end of a chat that became shorter since is found`(_ way: OddChat.Way) async throws {
        let earlier = HistoryPosition(cursor: "800", identifiers: (800..<900).map { "m-\($0)" })
        let position = try await OddChat(way: way, count: 300).historyPosition(chatID: "c", from: earlier)
        #expect(position.identifiers.last == "m-299")
    }

    /// Older messages come in, or some go, before a question of one's choice.
    private struct MovingChat: ChatBrowsing {
        let messages: NIOLockedValueBox<[CompanionMessage]>
        let asked = NIOLockedValueBox(0)
        let moment: Int
        let change: @Sendable (inout [CompanionMessage]) -> Void

        func messagesPage(chatID: String, cursor: String?, limit: Int) -> CompanionMessagesPageResponse {
            let turn = asked.withLockedValue { asked in
                asked += 1
                return asked
            }
            return messages.withLockedValue { all in
                if turn == moment { change(&all) }
                let start = min(cursor.flatMap(Int.init) ?? 0, all.count)
                let end = min(start + limit, all.count)
                return CompanionMessagesPageResponse(
                    chatId: chatID,
                    messages: Array(all[start..<end]),
                    nextCursor: end < all.count ? "\(end)" : nil
                )
            }
        }
    }

    private static func messages(_ name: String, _ count: Int) -> [CompanionMessage] {
        (0..<count).map { CompanionMessage(id: "\(name)-\($0)", role: .user, text: "", createdAt: nil) }
    }

    /// How many messages come in at the beginning; negative: go from there.
    private static let moves = [50, 300, 3000, -50]

    @Test(arguments: moves, [1, 2, 5, 10, 11])
    func `messages that come in or go meanwhile do not disturb the order or the end`(
        _ move: Int,
        _ moment: Int
    ) async throws {
        func chat() -> MovingChat {
            MovingChat(messages: NIOLockedValueBox(Self.messages("m", 2000)), moment: moment) { all in
                if move < 0 {
                    all.removeFirst(-move)
                } else {
                    all.insert(contentsOf: Self.messages("old", move), at: 0)
                }
            }
        }
        let last = try await chat().lastMessages(chatID: "c", count: 450).map(\.id)
        if move > 0 { #expect(last == (1550..<2000).map { "m-\($0)" }) }
        #expect(Set(last).count == last.count)
        #expect(try await chat().historyPosition(chatID: "c").identifiers.last == "m-1999")
    }

    @Test func `a message that comes again counts where it came last`() {
        var last = LastMessages(capacity: 3)
        last.append(Self.messages("m", 4))
        last.append(Self.messages("old", 200))
        last.append(Self.messages("m", 4))
        #expect(last.elements.map(\.id) == ["m-1", "m-2", "m-3"])
        #expect(last.retained <= 2 * MessagePages.pageSize)
    }

    @Test func `messages whose ids only look the same are two`() {
        var last = LastMessages(capacity: 3)
        last.append(Self.messages("caf\u{E9}", 1) + Self.messages("cafe\u{301}", 1))
        #expect(last.elements.count == 2)
    }
}
