import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// What an earlier release wrote is read by this one, and nothing of it is lost (see ``EarlierState``).
@Suite(.serialized, .timeLimit(.minutes(5))) struct EarlierStateTests {
    private static let rights: JSONValue = .list(
        ["chat.create", "chat.send", "project.create", "session.create"].map { .text($0) }
    )

    private func texts(_ result: Sandbox.Result, _ name: String) throws -> [String?] {
        #expect(result.status == 0, "\(result)")
        return try result.json.map { $0[name]?.string }
    }

    @Test("A device that was paired before is still signed in, reads its chats and goes on in them")
    func chats() async throws {
        try await EarlierState.with { state in
            try await state.withHost { state, _ in
                let (desk, chat) = (state.desk, state.chat)
                let status = try await desk.spawn(["status", "--json"])
                #expect(status.status == 0, "\(status)")
                #expect(try status.json.first?["connected"] == .bool(true))
                #expect(try status.json.first?["trust"]?.string == "verified")
                #expect(try texts(await desk.spawn(["projects", "--json"]), "name") == ["garden", "orchard"])
                #expect(try texts(await desk.spawn(["chats", "garden", "--json"]), "id") == [chat])

                let messages = try await desk.spawn(["messages", chat, "--json"])
                let prompts = ["How are the roses?", "And the beans?"]
                #expect(
                    try texts(messages, "text")
                        == prompts.flatMap { [$0, "You asked: \($0)\n"] } + ["slow, please", "Part one.\n"]
                )
                #expect(try messages.json.map { $0["interrupted"] == .bool(true) }.lastIndex(of: false) == 4)
                #expect(try messages.json.first?["createdAt"]?.string == "2025-11-23T07:56:08.611Z")

                // The last turn that the old program began there.
                let ended = try await desk.spawn(["cancel", chat, "--json"])
                #expect(try texts(ended, "turnId") == [state.lastTurn])
                // The token of before has done for all of this.
                let session = desk.directory + "/data/pairtool/sessions.json"
                let token = try #require(state.values["desk.session"])
                #expect(try String(contentsOf: URL(filePath: session), encoding: .utf8).contains(token))
                // Without it, the key signs in.
                try FileManager.default.removeItem(atPath: session)
                let sent = try await desk.spawn(["send", chat, "And the peas?", "--json"])
                #expect(sent.status == 0, "\(sent)")
                #expect(try sent.json.last?["answer"]?.string == "And the peas?")
                #expect(try texts(await desk.spawn(["messages", chat, "--json"]), "text").count == 8)
            }
        }
    }

    @Test("The host knows its devices, whom it has revoked, and an audit that is whole")
    func administration() async throws {
        try await EarlierState.with { state in
            try await state.withHost { state, ports in
                let host = state.host
                let devices = try await host.spawn(["host", "devices", "--json"])
                #expect(try texts(devices, "name") == ["tablet", "desk"])
                #expect(try devices.json.map { $0["permissions"] } == [Self.rights, Self.rights])
                #expect(try devices.json.map { $0["protocolVersion"] } == [.number(1), .number(2)])
                #expect(try texts(devices, "id") == ["tablet", "desk"].map { state.values[$0 + ".id"] })

                let audit = try await host.spawn(["host", "audit", "--json"])
                #expect(
                    try texts(audit, "kind") == [
                        "pairing.paired", "pairing.failed", "pairing.paired", "device.permissions", "device.revoked",
                        "pairing.paired",
                    ]
                )
                #expect(
                    try audit.json.map { $0["deviceId"]?.string }
                        == ["desk", nil, "guest", "guest", "guest", "tablet"].map {
                            $0.flatMap { state.values["\($0).id"] }
                        }
                )
                let verdict = try await host.spawn(["host", "audit", "--verify", "--json"])
                #expect(verdict.status == 0, "\(verdict)")
                #expect(try verdict.json.first?["intact"] == .bool(true))

                let refused = try await state.guest.spawn(["projects", "--json"])
                #expect(refused.status == 9 && refused.failed(with: "host.revoked"), "\(refused)")
                // A device of version 1 has no session: it is the one that is connected.
                let endpoint = try #require(CompanionEndpoint("127.0.0.1:\(ports.plain)"))
                let projects = try await CompanionAPIClient.withClient(endpoint: endpoint) { try await $0.projects() }
                #expect(projects.map(\.name) == ["garden", "orchard"])
            }
        }
    }

    @Test("The host's database keeps every row, and becomes what a new one is")
    func database() async throws {
        try await EarlierState.with { state in
            try await state.layDownHost()
            let before = try await state.databaseLines(of: state.database)
            let arguments = ["--project", state.host.directory + "/garden", "--name", "Shed"]
            try await withRunningHost(state.host, arguments) { _ = try await $0.first("listening") }
            let after = try await state.databaseLines(of: state.database)
            // New columns come last.
            let lost = before.rows.filter { row in !after.rows.contains { $0 == row || $0.hasPrefix(row + " ") } }
            // What was left of an answer goes to its chat, and ends its turn.
            #expect(
                lost.map { $0.prefix { $0 != "=" } }.sorted() == ["chat key", "turn id"]
                    && lost.contains { $0.contains(state.lastTurn) },
                "\(lost)"
            )
            #expect(before.rows.count > 40)

            try await Sandbox.with { fresh in
                try await withRunningHost(fresh, ["--project", state.host.directory + "/garden"]) {
                    _ = try await $0.first("listening")
                }
                let made = try await state.databaseLines(of: fresh.directory + "/data/pairtool/host/host.sqlite")
                #expect(after.schema == made.schema)
            }
        }
    }

    @Test("All hosts are still there, and an AICLI server gets its token, its session and the prompt that waited")
    func aicli() async throws {
        try await EarlierState.with { state in
            var script = FakeAICLIScript()
            script.token = state.values["aicli.token"]
            script.sessions = ["c1688d18-aa08-42b3-9eb9-d5bb9878924d": "/Users/ada/web"]
            try await withFakeAICLI(script) { server in
                var state = state
                state.values["aicli.port"] = String(server.port)
                try state.layDownUsers()
                let desk = state.desk
                let hosts = try await desk.spawn(["hosts", "--json"])
                #expect(
                    try texts(hosts, "id")
                        == ["host", "lumi", "aicli", "jarvis", "mac"].map { state.values[$0 + ".id"] }
                )
                #expect(
                    try texts(hosts, "family") == ["copilotforge", "lumi", "aicli", "jarvis", "copilotforge"]
                )
                #expect(try texts(hosts, "trust") == ["verified", "legacy", "legacy", "legacy", "legacy"])
                #expect(try hosts.json.map { $0["isDefault"] == .bool(true) }.firstIndex(of: true) == 0)
                #expect(try hosts.json.first?["permissions"] == Self.rights)

                let named = state.at("aicli")
                let waiting = try await desk.spawn(["aicli", "outbox"] + named)
                #expect(try texts(waiting, "prompt") == ["Still there?"])
                #expect(
                    try texts(await desk.spawn(["messages", "web"] + named), "text") == ["why?", "You said: why?"]
                )
                let sent = try await desk.spawn(["send", "web", "hi"] + named)
                #expect(sent.status == 0, "\(sent)")
                #expect(server.prompts == ["Still there?", "hi"])
                #expect(server.sessions.count == 1)
                #expect(server.frames("claudeCommand").last?.data["sessionId"]?.string == script.sessions.first?.key)
                #expect(try texts(await desk.spawn(["messages", "web"] + named), "text").count == 6)
            }
        }
    }

    @Test("The projects of an AICLI server that is off are shown with their age, and are kept in the history alone")
    func aicliOff() async throws {
        try await EarlierState.with { state in
            try state.layDownUsers()
            let (desk, named) = (state.desk, state.at("aicli"))
            let file = desk.directory + "/data/pairtool/aicli/\(state.values["aicli.id"] ?? "")/projects.json"
            #expect(FileManager.default.fileExists(atPath: file))
            for words in [["projects", "--offline"], ["projects"], ["chats"], ["projects", "--offline"]] {
                let shown = try await desk.spawn(words + named)
                #expect(
                    try texts(shown, words[0] == "chats" ? "title" : "name").sorted { $0 ?? "" < $1 ?? "" } == [
                        "api", "garden", "web",
                    ]
                )
                #expect(try shown.json.allSatisfy { $0["source"]?.string == "cache" })
                #expect(try texts(shown, "asOf").allSatisfy { $0 == state.values["earlier"] }, "\(shown)")
            }
            #expect(!FileManager.default.fileExists(atPath: file))
            // A prompt can wait for a project that is known.
            let waiting = try await desk.spawn(["send", "garden", "Water it.", "--queue"] + named)
            #expect(try texts(waiting, "chatTitle") == ["garden"], "\(waiting)")
        }
    }

    @Test("Lumi's agents, automations and conversations are there, those that were made here too, and so are keys")
    func lumi() async throws {
        try await EarlierState.with { state in
            try await withFakeLumi { mac in
                var state = state
                state.values["lumi.port"] = mac.endpointText.split(separator: ":").last.map(String.init)
                let key = try #require(state.values["anthropic.key"])
                try state.layDownUsers()
                let (desk, named) = (state.desk, state.at("lumi"))
                let agents = try texts(await desk.spawn(["lumi", "agents"] + named), "name")
                #expect(agents == ["Local", "Reviewer", "Writer"])
                let automations = try texts(await desk.spawn(["lumi", "automations"] + named), "title")
                #expect(Set(automations) == ["Morning summary", "Review on push"])
                let chats = try texts(await desk.spawn(["chats"] + named), "title")
                #expect(chats == ["What grows in shade?", "Balcony garden", "Retry loop"])
                // Twice: from the files of before, and when these have been moved.
                for _ in 0..<2 {
                    let messages = try texts(await desk.spawn(["messages", "What grows"] + named), "text")
                    #expect(
                        messages == [
                            "What grows in shade?",
                            "Sow it in a row, thin the seedlings, and water in the morning. 🌱",
                        ]
                    )
                }
                let files = try FileManager.default.subpathsOfDirectory(atPath: desk.directory + "/data/pairtool/lumi")
                #expect(!files.contains { $0.hasSuffix("conversations.json") || $0.contains("/local/") }, "\(files)")
                let keys = try await desk.spawn(["lumi", "keys", "--json"])
                let sources = try keys.json.reduce(into: [:]) {
                    $0[$1["provider"]?.string ?? ""] = $1["source"]?.string
                }
                #expect(sources["anthropic"] == "set" && sources["openai"] == "synced", "\(keys)")
                #expect(keys.out.contains("http://127.0.0.1:\(state.values["ollama.port"] ?? "")"))
                // The provider gets the key that was set.
                try await withFakeProviders(key: key) { fake in
                    let sent = try await desk.spawn(
                        ["send", "Retry loop", "How?"] + named,
                        environment: fake.environment()
                    )
                    #expect(sent.status == 0, "\(sent)")
                }
                // The Mac lets it in under its name of before, and has the same files.
                let pulled = try await desk.spawn(["lumi", "sync"] + named)
                #expect(pulled.status == 0, "\(pulled)")
                let states = try pulled.json.reduce(into: [:]) { $0[$1["file"]?.string ?? ""] = $1["state"]?.string }
                for file in ["agents.json", "automations.json", "conversations.json"] {
                    #expect(states[file] == "unchanged", "\(file)")
                }
            }
        }
    }

    @Test("A Jarvis daemon gets its token, and a Mac of version 1 is used as before")
    func jarvisAndMac() async throws {
        try await EarlierState.with { state in
            var script = FakeJarvisScript()
            script.token = state.values["jarvis.token"]
            try await withFakeJarvis(script) { jarvis in
                try await withFakeMac { mac in
                    var state = state
                    for (name, text) in [("jarvis", jarvis.endpointText), ("mac", mac.endpointText)] {
                        state.values[name + ".port"] = text.split(separator: ":").last.map(String.init)
                    }
                    try state.layDownUsers()
                    let approvals = try await state.desk.spawn(["approvals"] + state.at("jarvis"))
                    #expect(try texts(approvals, "id").count == 3)
                    let projects = try await state.desk.spawn(["projects"] + state.at("mac"))
                    #expect(try texts(projects, "name") == ["web", "api"])
                }
            }
        }
    }

    @Test("Nothing of it is damaged to the doctor")
    func doctor() async throws {
        try await EarlierState.with { state in
            try await state.withHost { state, _ in
                for user in [state.desk, state.guest, state.host] {
                    let result = try await user.spawn(["doctor", "--json", "--interface", "lo", "--engine", "embedded"])
                    #expect(!result.out.contains("damaged") && !result.out.contains("newer version"), "\(result)")
                }
            }
        }
    }
}
