import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import History
import Testing

@testable import pairtool

@Suite struct HistoryCommandTests {
    @Test("What was listed and read is shown when the host cannot be reached, with its age, in text and JSON")
    func offline() async throws {
        try await withPairedMac { mac, user in
            for words in [["projects"], ["chats"], ["messages", "c-login"]] {
                let first = await user.run(words + ["--json"])
                #expect(first.status == 0)
                #expect(try first.json.allSatisfy { $0["source"] == nil })
                let text = await user.run(words)
                mac.change { $0.faults = [FakeMacFault(.reset)] }
                defer { mac.change { $0.faults = [] } }
                let later = Date().addingTimeInterval(3 * 3600)
                let known = await user.run(words, now: { later })
                #expect(known.status == 0, "\(known)")
                #expect(known.err.contains("cannot be reached; this is what was known 3 h ago."))
                #expect(known.out.split(separator: "\n").count == text.out.split(separator: "\n").count)
                let json = await user.run(words + ["--json"])
                let rows = try json.json
                #expect(rows.count == (try first.json.count))
                #expect(rows.allSatisfy { $0["source"]?.string == "cache" && $0["asOf"]?.string != nil })
                #expect(rows.map { $0["id"] } == (try first.json.map { $0["id"] }))
            }
            let requests = mac.requests("GET", "/companion/projects").count
            #expect(await user.run("chats", "web", "-q", "--offline").out == "c-login\nc-cors\n")
            #expect(mac.requests("GET", "/companion/projects").count == requests)
        }
    }

    @Test("Without anything stored, the error of the host stays, and --offline says so")
    func nothingStored() async throws {
        try await withPairedMac { mac, user in
            mac.change { $0.faults = [FakeMacFault(.reset)] }
            #expect(await user.run("projects").status == 10)
            let offline = await user.run("projects", "--offline", "--json")
            #expect(offline.status == 3)
            #expect(offline.failed(with: "history.nothing"))
            mac.change { $0.faults = [] }
            #expect(await user.run("chats").status == 0)
            mac.change { $0.faults = [FakeMacFault(.reset)] }
            #expect(await user.run("messages", "c-login").status == 10)
        }
    }

    @Test("A chat that was begun here is shown though its project's chats were never listed")
    func begunHere() async throws {
        try await withPairedMac { mac, user in
            #expect(await user.run("send", "--new", "--project", "web", "marmalade sandwich").status == 0)
            mac.change { $0.faults = [FakeMacFault(.reset)] }
            let chats = await user.run("chats")
            #expect(chats.status == 0 && chats.out.contains("marmalade sandwich"), "\(chats)")
            let messages = await user.run("messages", "marmalade sandwich")
            #expect(messages.status == 0 && messages.out.contains("marmalade sandwich"), "\(messages)")
            let unknown = await user.run("messages", "toast")
            #expect(unknown.status == 3, "\(unknown)")
            #expect(unknown.err.contains("the host has no chat “toast”, as far as this machine has read"), "\(unknown)")
        }
    }

    @Test("What is said is found at once, exported with its tools, and goes with the host")
    func said() async throws {
        try await withPairedMac { _, user in
            #expect(await user.run("send", "c-login", "marmalade sandwich").status == 0)
            let found = try #require(try await user.run("search", "marmal", "--role", "user", "--json").json.first)
            #expect(found["chatId"]?.string == "c-login")
            #expect(found["excerpt"]?.string == "marmalade sandwich")
            #expect(found["matches"] == .list([.list([.number(0), .number(9)])]))
            #expect(
                await user.run("search", "marmalade", "--project", "web").out.contains("\n  [marmalade] sandwich\n")
            )
            #expect(await user.run("search", "marmalade", "--project", "api").status == 3)
            #expect(await user.run("search", "marmalade", "--since", "1h", "-q").status == 0)
            #expect(await user.run("export", "c-login").out.contains("> marmalade sandwich\n"))
            #expect(await user.run("hosts", "forget", await mac(user), "--yes").status == 0)
            #expect(await user.run("search", "marmalade").status == 3)
            #expect(try await user.run("history", "--json").json.first?["messages"] == .number(0))
        }
    }

    private func mac(_ user: Sandbox) async -> String {
        await user.run("hosts", "-q").out.trimmingWhitespace()
    }

    @Test("Clearing asks at a terminal; what was exported as JSON before has every message")
    func exported() async throws {
        try await withPairedMac { _, user in
            #expect(await user.run("send", "c-login", "Which file?").status == 0)
            let file = user.directory + "/chats.jsonl"
            #expect(await user.run("export", "--all", "-o", file).status == 0)
            let count = try await user.run("history", "--json").json.first?["messages"]
            let unasked = await user.run("history", "clear")
            #expect(unasked.status == 2 && unasked.err.contains("no terminal to confirm this on"), "\(unasked)")
            let kept = await user.run("history", "clear", stdin: "\n", terminal: true)
            #expect(kept.status == 1 && kept.out.isEmpty, "\(kept)")
            #expect(kept.err.contains("Remove the history of all hosts on this machine? [y/N] "), "\(kept)")
            #expect(kept.err.hasSuffix("pairtool: not confirmed; nothing was removed\n"), "\(kept)")
            let unknown = await user.run("history", "clear", "--host", "nowhere", stdin: "y\n", terminal: true)
            #expect(unknown.status != 0 && !unknown.err.contains("[y/N]"), "\(unknown)")
            #expect(try await user.run("history", "--json").json.first?["messages"] == count)
            let cleared = await user.run("history", "clear", stdin: "y\n", terminal: true)
            #expect(cleared.out.hasSuffix("The history is empty.\n"), "\(cleared)")
            #expect(await user.run("messages", "c-login", "--offline").status == 3)
            let lines = try String(contentsOf: URL(filePath: file), encoding: .utf8).split(separator: "\n")
            #expect(lines.first?.contains(#""type":"archive""#) == true)
            let messages = lines.count { $0.contains(#""type":"message""#) }
            #expect(count == .number(Double(messages)) && messages > 0)
            #expect(await user.run("history", "clear", "--yes", terminal: true).status == 0)
        }
    }

    @Test("What was synced from a Lumi host is cleared with the rest; what went on here stays until it is asked for")
    func clearedLumi() async throws {
        try await Sandbox.with { user in
            let (store, _) = try user.pullSample()
            #expect(await user.run("chats").status == 0)
            #expect(await user.run("search", "moon").status == 0)
            #expect(await user.run("history", "clear", "--yes").out == "The history is empty.\n")
            #expect(await user.run("search", "moon").status == 3)
            try await withFakeProviders { fake in
                fake.reply(.answer(["Light."]))
                let sent = try await user.spawn(
                    ["send", "--new", "--project", "Ada", "And the sun?"],
                    environment: fake.environment(key: madeKeyText())
                )
                #expect(sent.status == 0, "\(sent.err)")
            }
            #expect(await user.run("search", "sun").status == 0)
            let status = await user.run("history")
            #expect(status.out.contains("1, 1 only here"), "\(status.out)")
            // Whatever config.toml says.
            try user.configure("[history]\noff = true\n")
            #expect(await user.run("chats", "Ada").out.contains("And the sun?"))
            let copy = user.directory + "/copy.db"
            #expect(await user.run("history", "backup", copy).status == 0)
            let copied = try await user.shell("grep -q 'Light\\.' copy.db && echo there")
            #expect(copied.out == "there\n", "\(copied)")
            try user.configure("[history]\nkeep = \"1h\"\nmax = \"1 MB\"\n")
            let pruned = await user.run("history", "prune", "--older-than", "1h", "--json")
            #expect(try pruned.json.first?["removed"] == .number(0), "\(pruned)")
            let cleared = await user.run("history", "clear", "--yes")
            #expect(cleared.out == "The history is cleared; 1 chat that is only here has been kept.\n", "\(cleared)")
            #expect(cleared.err.contains("pairtool history clear --kept-chats"))
            #expect(await user.run("search", "sun").status == 0)
            let files = try FileManager.default.subpathsOfDirectory(atPath: store.directory)
            #expect(!files.contains { $0.hasSuffix("conversations.json") || $0.hasPrefix("local/") }, "\(files)")
            let all = await user.run("history", "clear", "--kept-chats", "--json", "--yes")
            #expect(try all.json.first?["keptChats"] == .number(0), "\(all)")
            #expect(await user.run("search", "sun").status == 3)
        }
    }

    @Test("An export has pictures, who answered and what broke off")
    func exportedLumi() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample()
            let bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 1]
            let picture = try user.file("picture", bytes)
            try await withFakeProviders { fake in
                fake.reply(.cut(["Gravity"], isReset: false))
                let environment = fake.environment(key: madeKeyText())
                let sent = try await user.spawn(["send", "Tides", "See", "--image", picture], environment: environment)
                #expect(sent.status == 14, "\(sent.err)")
            }
            let exported = try await user.run("export", "--all", "--format", "json").json
            let prompt = try #require(exported.first { $0["text"]?.string == "See" })
            #expect(prompt["picture"]?.string == Base64.encode(bytes) && prompt["kept"] == .bool(true), "\(prompt)")
            let answer = try #require(exported.first { $0["text"]?.string == "Gravity" })
            #expect(answer["interrupted"] == .bool(true) && answer["author"] != nil, "\(answer)")
        }
    }

    @Test("A history that cannot be used is one line, and fails no command")
    func unusable() async throws {
        try await withPairedMac { _, user in
            let path = HistoryStore.path(state: user.directory + "/state/pairtool")
            try FileManager.default.createDirectory(
                atPath: user.directory + "/state/pairtool",
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            try Data("no database at all".utf8).write(to: URL(filePath: path))
            let result = await user.run("chats")
            #expect(result.status == 0)
            #expect(result.err.contains("damaged; continuing without it"))
            #expect(await user.run("search", "x", "--json").failed(with: "history.damaged"))
            #expect(await user.run("history", "clear", "--yes").status == 0)
            #expect(await user.run("chats").err.isEmpty)
        }
    }

    @Test("config.toml turns it off, and what is wrong in it is reported with the nearest setting")
    func choices() async throws {
        try await withPairedMac { _, user in
            try user.configure("[history]\noff = true\n")
            #expect(await user.run("chats").status == 0)
            #expect(
                !FileManager.default.fileExists(atPath: HistoryStore.path(state: user.directory + "/state/pairtool"))
            )
            #expect(await user.run("search", "x", "--json").failed(with: "history.off"))
            try user.configure("[history]\nkep = \"90d\"\nmax = \"many\"\n")
            let status = await user.run("history")
            #expect(status.status == 0)
            #expect(status.err.contains("no setting history.kep; did you mean history.keep?"))
            #expect(status.err.contains("history.max is not a size"))
            try user.configure("[history\n")
            #expect(await user.run("history").err.contains("config.toml: line 1"))
            #expect(await user.run("history", "prune").err.contains("config.toml: line 1"))
            let path = HistoryStore.path(state: user.directory + "/state/pairtool")
            for unclear in ["off = true\nkeep = 90d\n", "off = \"true\"\n", "of = true\n", "max = \"5 gigs\"\n"] {
                try HistoryStore.removeFiles(path)
                try user.configure("[history]\n" + unclear)
                let chats = await user.run("chats")
                #expect(chats.status == 0)
                #expect(chats.err.contains("config.toml: "))
                #expect(!FileManager.default.fileExists(atPath: path), "kept in spite of \(unclear)")
            }
            try user.configure("[history]\nkeep = \"90d\"\nmax = \"500 MB\"\n")
            #expect(await user.run("history").out.contains("for 90 d, at most 500 MB"))
        }
    }
}
