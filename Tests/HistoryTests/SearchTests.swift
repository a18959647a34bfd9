import CompanionWire
import FoundationEssentials
import Testing

@testable import History

@Suite("The history is searched")
struct SearchTests {
    @Test("Words, phrases, beginnings, and letters without their accents are found, the best first")
    func words() async throws {
        let history = try TestHistory()
        try await history.list(projects: ["p"])
        try await history.list(chats: ["c"])
        try await history.page([
            "1=The water pump of the garden is broken, and nobody knows why that is so",
            "2=pump", "3=pump the water", "4=Überlauf in der Straße", "5=pumpkin soup",
        ])
        #expect(try await history.found("pump") == ["2", "3", "1"])
        #expect(try await history.found("PUMP water") == ["3", "1"])
        #expect(try await history.found("\"water pump\"") == ["1"])
        #expect(Set(try await history.found("pump*")) == ["1", "2", "3", "5"])
        #expect(try await history.found("uberlauf") == ["4"])
        #expect(try await history.found("pumpk") == ["5"])
        #expect(try await history.found("umpki") == ["5"])
        #expect(try await history.found("about") == ["c"])
        #expect(try await history.found("nothing like it").isEmpty)
    }

    @Test("Of a text without end, the first words are looked for, and it is known that there are more")
    func long() async throws {
        let history = try TestHistory()
        let words = (0..<3000).map { "word\($0)" }
        try await history.page(["1=\(words.prefix(64).joined(separator: " "))", "2=word1 word2", "3=" + words[0]])
        for separator in [" ", ".", "\" \"", "* "] {
            let all = SearchQuery(words.joined(separator: separator))
            #expect(all.isCut && !SearchQuery(words.prefix(64).joined(separator: separator)).isCut)
            #expect(all.asPrefixes.isCut && all.expression.utf8.count < 64 * 20)
            #expect(
                try await history.store.search(all, within: SearchScope()).map(\.messageID) == ["1"],
                "\(separator)"
            )
        }
        let phrase = SearchQuery("\"" + words.joined(separator: " ") + "\"")
        #expect(phrase.isCut && phrase.terms.count == 1)
        let endless = SearchQuery(String(repeating: "x", count: 1_000_000))
        #expect(endless.isCut && endless.text.utf8.count == SearchQuery.longest)
        let marked = SearchQuery(Array(repeating: "e\u{301}e", count: 64).joined(separator: " "))
        #expect(!marked.isCut, "marks are no words")
    }

    @Test("The match is marked in one line of text around it")
    func snippets() async throws {
        let history = try TestHistory()
        try await history.page([
            "1=" + String(repeating: "before ", count: 50) + "the\n\nwater pump"
                + String(repeating: " after", count: 50)
        ])
        let hit = try #require(
            try await history.store.search(SearchQuery("\"water pump\""), within: SearchScope()).first
        )
        #expect(hit.excerpt.filter(\.isMatch).map(\.text) == ["water pump"])
        let text = hit.excerpt.map(\.text).joined()
        #expect(text.contains("the water pump after") && !text.contains("\n") && text.hasSuffix("…"))
        let inside = try #require(try await history.store.search(SearchQuery("ATER PUM"), within: SearchScope()).first)
        #expect(inside.excerpt.filter(\.isMatch).map(\.text) == ["ater pum"])
    }

    @Test("A search is restricted to hosts, a project, a role and a time")
    func scope() async throws {
        let history = try TestHistory()
        try await history.list(projects: ["garden", "p"])
        try await history.list(chats: ["c"], in: "garden")
        try await history.page(["1=pump"])
        let (id, now) = (TestHistory.host.id, TestHistory.now)
        #expect(try await history.found("pump", SearchScope(hosts: [id], project: "GARDEN")) == ["1"])
        #expect(try await history.found("pump", SearchScope(project: "garde", since: now, role: "assistant")) == ["1"])
        for scope in [
            SearchScope(hosts: ["x"]), SearchScope(project: "p"), SearchScope(since: now.addingTimeInterval(1)),
            SearchScope(role: "user"), SearchScope(limit: 0),
        ] {
            #expect(try await history.found("pump", scope).isEmpty)
        }
    }

    @Test(
        "No text is an error",
        arguments: [
            "", "\"", "\"\"", "*", "**", "a*b", "\"a\"*", "AND", "OR NOT", "NEAR(a b)", "a:b", "text:a", "^a", "-a",
            "a + b",
            "(", ")", "{a}", "a\" OR \"b", "'; DROP TABLE message; --", "\u{0}", "a\u{0}b", "\u{2}\u{3}", "é*", "💧",
            "%", "_",
            "\\", "…", "a\u{301}", "\u{FFFD}",
        ]
    )
    func syntax(text: String) async throws {
        let history = try TestHistory()
        try await history.page(["1=a b c", "2=\u{0}x", "3=\u{2}\u{3} a"])
        _ = try await history.found(text)
        _ = try await history.found(text + text)
        _ = try await history.found("\"" + text)
    }

    @Test("Hostile texts are stored and found: NUL, 10 MB, a word without end")
    func hostile() async throws {
        let history = try TestHistory()
        let long = String(repeating: "x", count: 10 << 20)
        let words = String(repeating: "lorem ipsum ", count: 900_000) + "needle"
        try await history.page(["1=nul\u{0}after", "2=\(long)", "3=\(words)", "\u{0}4=not kept"])
        #expect(try await history.found("after") == ["1"])
        #expect(try await history.found("needle") == ["3"])
        #expect(try await history.store.status().messages == 3)
        #expect(try await history.stored()[0] == "1=nul\u{FFFD}after")
    }

    /// Message 100 is not among the newest 5,000.
    @Test("Of a word that very many messages have, the newest are ranked; in a scope, all are")
    func frequent() async throws {
        let history = try TestHistory()
        let best = [100: "pump pump pump", 2000: "pump pump"]
        for page in 0..<27 {
            try await history.store.keep(
                messages: (0..<200).map { index in
                    let number = page * 200 + index
                    let time = TestHistory.now.addingTimeInterval(Double(number))
                    return CompanionMessage(
                        id: "\(number)",
                        role: .user,
                        text: best[number] ?? "pump \(number)",
                        createdAt: time
                    )
                },
                offset: page * 200,
                isEnd: true,
                chatID: "c",
                of: TestHistory.host,
                at: TestHistory.now
            )
        }
        #expect(try await history.found("pump", SearchScope(limit: 3)) == ["2000", "5399", "5398"])
        let scopes = [
            SearchScope(hosts: [TestHistory.host.id], limit: 3), SearchScope(role: "user", limit: 3),
            SearchScope(since: TestHistory.now, limit: 3),
        ]
        for scope in scopes { #expect(try await history.found("pump", scope) == ["100", "2000", "5399"]) }
    }
}
