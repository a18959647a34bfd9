import CompanionTestSupport
import FoundationEssentials
import Testing

/// `projects new` and `chats new` with the built host: signed commands, and hosts that cannot have them.
@Suite(.serialized, .timeLimit(.minutes(15))) struct NewCommandTests {
    @Test("A project is made at the host, once, and is listed from then on")
    func project() async throws {
        try await withVerifiedHost { _, host, user in
            let made = await user.run("projects", "new", "Beans", "--json")
            #expect(made.status == 0, "\(made.err)")
            let row = try #require(try made.json.first)
            #expect(row["name"]?.string == "Beans")
            let id = try #require(row["id"]?.string)
            let path = try #require(row["localPath"]?.string)
            #expect(path.hasPrefix(host.directory) && FileManager.default.fileExists(atPath: path))
            #expect(await user.run("projects", "-q").out.split(separator: "\n").contains(Substring(id)))
            let again = await user.run("projects", "new", "Beans", "--json")
            #expect(again.status == 1, "\(again)")
            #expect(await user.run("projects", "-q").out.split(separator: "\n").count == 2)
            // What lies outside of what the host lists is not made a project.
            #expect(await user.run("projects", "new", "Root", "--path", "/").status == 9)
        }
    }

    @Test("A chat is made with its title, and is one of the host's chats")
    func chat() async throws {
        try await withVerifiedHost { _, _, user in
            let chat = try await #require(user.run("chats", "new", "garden", "--title", "Spring", "--json").json.first)
            #expect(chat["title"]?.string == "Spring")
            #expect(chat["projectName"]?.string == "garden")
            let chatID = try #require(chat["id"]?.string)
            let listed = await user.run("chats", "garden", "-q").out.split(separator: "\n").map(String.init)
            #expect(listed == [chatID])
            let quiet = await user.run("chats", "new", "garden", "-q").out
            #expect(await user.run("chats", "garden", "-q").out.contains(quiet))
            let unknown = await user.run("chats", "new", "meadow", "--json")
            #expect(unknown.status == 3, "\(unknown)")
        }
    }

    @Test(
        "Who may only read makes nothing: exit code 9, whether it was paired so or the owner changed it",
        arguments: [true, false]
    )
    func permission(pairedReadOnly: Bool) async throws {
        try await withVerifiedHost(pairing: pairedReadOnly ? ["--read-only"] : []) { _, host, user in
            if !pairedReadOnly {
                #expect(await user.run("chats", "new", "garden").status == 0)
                let changed = try await host.spawn(["host", "permissions", "desk", "--read-only"])
                #expect(changed.status == 0, "\(changed)")
            }
            let before = await user.run("chats", "-q").out
            let own = try #require(await user.run("devices", "-q").out.split(separator: "\n").first).prefix(8)
            for words in [["projects", "new", "Beans"], ["chats", "new", "garden"]] {
                let refused = await user.run(words + ["--json"])
                #expect(refused.status == 9, "\(words) \(refused)")
                #expect(
                    refused.out.isEmpty
                        && refused.err.contains(
                            "pairtool host permissions \(own) --add \(words[0] == "chats" ? "chat" : "project").create"
                        ),
                    "\(refused)"
                )
            }
            #expect(await user.run("chats", "-q").out == before)
            #expect(await user.run("projects", "-q").out.split(separator: "\n").count == 1)
        }
    }

    @Test(
        "A legacy host is asked for nothing that protocol 1 has no word for: exit code 12",
        arguments: [
            ["projects", "new", "Beans"], ["chats", "new", "web"], ["chats", "cancel", "c-login"],
            ["chats", "cancel", "c-login", "turn"],
        ]
    )
    func legacy(arguments: [String]) async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let before = mac.requests.count
                let refused = await user.run(arguments + ["--json"])
                #expect(refused.status == 12, "\(refused)")
                #expect(refused.out.isEmpty)
                let code = try refused.errorCode
                #expect(code == "host.legacy")
                #expect(mac.requests.count == before, "nothing was sent")
            }
        }
    }
}
