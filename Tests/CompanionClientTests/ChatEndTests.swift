import CompanionTestSupport
import CompanionWire
import NIOConcurrencyHelpers
import Testing

@testable import CompanionClient

@Suite struct ChatEndTests {
    @Test(arguments: [0, 1, 200, 201, 400, 401, 599, 600, 601, 800, 801, 1000, 1001, 5000])
    func `the end of a chat of any length is found`(_ count: Int) async throws {
        try await withPeers(.with { $0.fill("c-login", count: count) }) { mac, client async throws in
            let position = try await client.historyPosition(chatID: "c-login")
            #expect(position.identifiers.last == (count == 0 ? nil : "m-\(count - 1)"))
            #expect(position.cursor == (count <= 200 ? nil : "\((count - 1) / 200 * 200)"))
            for asked in [1, 20, 199, 450, 100_000] {
                let last = try await client.lastMessages(chatID: "c-login", count: asked)
                #expect(last.map(\.id) == (max(count - asked, 0)..<count).map { "m-\($0)" })
            }
        }
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
        let asked = NIOLockedValueBox(0)

        func messagesPage(
            chatID: String,
            cursor: String?,
            limit: Int
        ) throws -> CompanionMessagesPageResponse {
            asked.withLockedValue { $0 += 1 }
            var start = number(cursor ?? "0")
            if start >= count, way == .clampsToLast { start = count - 1 }
            if start > count, way == .refusesBehindEnd { throw CompanionClientError(.badRequest, "no such page") }
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

    @Test(arguments: OddChat.Way.allCases, [1, 399, 2000, 2001, 3333])
    private func `hosts with ways of their own are walked through`(_ way: OddChat.Way, _ count: Int) async throws {
        let chat = OddChat(way: way, count: count)
        #expect(try await chat.historyPosition(chatID: "c").identifiers.last == "m-\(count - 1)")
        let last = try await chat.lastMessages(chatID: "c", count: 250)
        #expect(last.map(\.id) == (max(count - 250, 0)..<count).map { "m-\($0)" })
    }

    @Test(arguments: [1000, 100_000, 1_000_000])
    func `the questions grow with the logarithm of the length`(_ count: Int) async throws {
        let chat = OddChat(way: .honest, count: count)
        #expect(try await chat.historyPosition(chatID: "c").cursor == "\(count - 200)")
        let asked = chat.asked.withLockedValue { $0 }
        #expect(asked <= 4 + 2 * (Int.bitWidth - (count / 200).leadingZeroBitCount), "\(asked)")
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
    private static let moves = [50, 300, 3000, -50, -900, -1500]

    @Test(arguments: moves, 1...16)
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
