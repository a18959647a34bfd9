import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// A directory that a host lists under several ids and names is one project, by whichever of them it is called.
@Suite struct MergedProjectTests {
    @Test(
        "It answers to each of its ids and names, and to their beginnings",
        arguments: ["p-web", "p-web-2", "p-web-", "web", "web copy", "WEB COPY", "web c", "/Users/ada/web"]
    )
    func words(word: String) async throws {
        try await withPairedMac { _, user in
            let chats = await user.run("chats", word, "-q")
            #expect(chats.out == "c-login\nc-cors\n", "\(chats)")
        }
    }

    @Test("Every id that projects and chats print is taken, whichever entry is the newest meanwhile")
    func printed() async throws {
        try await withPairedMac { mac, user in
            var ids = Set(try await user.run("projects", "--json").json.compactMap { $0["id"]?.string })
            ids.formUnion(try await user.run("chats", "--json").json.compactMap { $0["projectId"]?.string })
            #expect(ids == ["p-web", "p-web-2", "p-api"])
            mac.change { $0.projects[1].lastUpdatedAt = FakeMacScript.epoch.addingTimeInterval(60) }
            for id in ids {
                let chats = await user.run("chats", id, "-q")
                #expect(chats.status == 0, "\(id): \(chats)")
            }
        }
    }

    @Test("The name that is shown is the same, whichever entry is the newest")
    func name() async throws {
        try await withPairedMac { mac, user in
            let names = { try await user.run("projects", "--json").json.compactMap { $0["name"]?.string } }
            let before = try await names()
            #expect(before == ["web", "api"])
            mac.change { $0.projects[1].lastUpdatedAt = FakeMacScript.epoch.addingTimeInterval(60) }
            do {
                let shown = try await names()
                #expect(shown == ["web", "api"])
            }
            mac.change { $0.projects.swapAt(0, 1) }
            do {
                let shown = try await names()
                #expect(shown == ["web", "api"])
            }
        }
    }
}
