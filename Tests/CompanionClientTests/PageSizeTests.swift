import CompanionTestSupport
import CompanionWire
import Testing

@testable import CompanionClient

@Suite struct PageSizeTests {
    private func large(_ count: Int, bytes: Int, of character: String = "x") -> FakeMacScript {
        .with { script in
            script.messages["c-login"] = (0..<count).map {
                CompanionMessage(
                    id: "m-\($0)",
                    role: $0 % 2 == 0 ? .user : .assistant,
                    text: String(repeating: character, count: bytes),
                    createdAt: nil
                )
            }
        }
    }

    private let small = CompanionClientConfiguration(limits: .init(body: 64 << 10, message: 256 << 10))

    private func limits(_ mac: FakeMac) -> [Int] {
        mac.requests.compactMap { $0.target.split(separator: "&limit=").last.flatMap { Int($0) } }
    }

    @Test func `two hundred messages of 42 kilobytes are read, and a prompt goes out behind them`() async throws {
        try await withPeers(large(200, bytes: 42 << 10)) { mac, client async throws in
            var ids: [String] = []
            for try await message in client.messages(chatID: "c-login") { ids.append(message.id) }
            #expect(ids == (0..<200).map { "m-\($0)" })
            #expect(limits(mac) == [200, 100, 100])
            #expect(try await client.lastMessages(chatID: "c-login", count: 2).map(\.id) == ["m-198", "m-199"])
            let turn = ChatTurn(client: client, chatID: "c-login", request: .prompt("Hi"))
            for try await _ in turn.run() {}
            #expect(mac.prompts == 1)
        }
    }

    @Test func `a message of escapes that is as long as the limit of a page fits a page of its own`() async throws {
        // The usual limits, divided by 16.
        let usual = CompanionClientConfiguration.default.limits
        let limits = CompanionClientConfiguration.Limits(body: usual.body / 16, message: usual.message / 16)
        let script = large(2, bytes: limits.body, of: "\u{7}")
        try await withPeers(script, CompanionClientConfiguration(limits: limits)) { mac, client async throws in
            let last = try await client.lastMessages(chatID: "c-login", count: 1)
            #expect(last.map(\.text.utf8.count) == [limits.body])
            #expect(self.limits(mac).last == 1)
        }
    }

    @Test func `a page that was made smaller grows again`() async throws {
        var script = large(20, bytes: 20 << 10)
        script.messages["c-login"]? += (20..<600).map {
            CompanionMessage(id: "m-\($0)", role: .user, text: "", createdAt: nil)
        }
        try await withPeers(script, small) { mac, client async throws in
            var ids: [String] = []
            for try await message in client.messages(chatID: "c-login") { ids.append(message.id) }
            #expect(ids == (0..<600).map { "m-\($0)" })
            let limits = limits(mac)
            #expect(Array(limits.prefix(8)) == [200, 100, 50, 25, 12, 6, 3, 3])
            #expect(limits.max() == 200)
            #expect(try #require(limits.last) > 12)
        }
    }

    @Test func `a message that is over its own limit is an error`() async throws {
        try await withPeers(large(2, bytes: 300 << 10), small) { mac, client async throws in
            let error = try await clientError { try await client.lastMessages(chatID: "c-login", count: 1) }
            #expect(error.code == .tooLarge)
            #expect(limits(mac).last == 1)
        }
    }
}
