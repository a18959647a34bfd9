import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import LocalState
import Testing

@Suite struct LumiStoreTests {
    private func wrapped(_ items: String) -> [UInt8] { Array(#"{"items":[\#(items)],"updatedAt":700000300}"#.utf8) }
    private func bare(_ items: String) -> [UInt8] { Array("[\(items)]".utf8) }

    @Test(arguments: [true, false])
    func bothShapesOfAListAreRead(isWrapped: Bool) async throws {
        let sample = LumiSample()
        try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory)
            #expect(try store.loadAgents() == nil)
            try store.replace(.agents, with: isWrapped ? wrapped(sample.agents()) : bare(sample.agents()))
            let agents = try #require(try store.loadAgents())
            #expect(agents.updatedAt == (isWrapped ? Date(timeIntervalSinceReferenceDate: 700_000_300) : nil))
            let agent = try #require(agents.items.first)
            #expect(agent.id == sample.agent)
            #expect(agent.configuration.model == "gpt-x")
            #expect(agent.configuration.systemPrompt == "Be brief.")
            #expect(agent.configuration.temperature == 0.5)
            // Seconds since 2001: Unix is 978,307,200 more.
            #expect(agent.createdAt == Date(timeIntervalSince1970: 1_678_307_200))
        }
    }

    @Test func anItemThatCannotBeReadIsCountedAndTheOthersStay() async throws {
        let sample = LumiSample()
        try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory)
            try store.replace(.agents, with: wrapped(#"{"id":"../../etc/passwd","name":7},"# + sample.agents()))
            let agents = try #require(try store.loadAgents())
            #expect(agents.items.map(\.id) == [sample.agent])
            #expect(agents.dropped == 1)
        }
    }

    @Test(arguments: ["", "{", "null", "7", #"{"items":7}"#, #"{"error":"no"}"#])
    func whatIsNotTheFileDoesNotReplaceTheOneFromBefore(content: String) async throws {
        let sample = LumiSample()
        try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory)
            try store.replace(.agents, with: wrapped(sample.agents()))
            let error = #expect(throws: LumiStoreError.self) { try store.replace(.agents, with: Array(content.utf8)) }
            #expect(error?.code == .malformed)
            #expect(try store.loadAgents()?.items.count == 1)
        }
    }

    @Test func aFileThatIsTooLargeIsNotTaken() async throws {
        try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory)
            let content = Array("[]".utf8) + [UInt8](repeating: 0x20, count: LumiStore.sizeLimit)
            let error = #expect(throws: LumiStoreError.self) { try store.replace(.agents, with: content) }
            #expect(error?.code == .tooLarge)
            #expect(FileStatus(store.path(of: .agents)) == nil)
        }
    }

    @Test(arguments: LumiSyncFile.allCases)
    func filesBelongToTheirOwnerAlone(file: LumiSyncFile) async throws {
        try await withTemporaryDirectory { directory in
            let store = LumiStore(data: directory, hostID: "00ff00ff00ff00ff")
            let isList = [.agents, .conversations, .automations].contains(file)
            try store.replace(file, with: Array((isList ? "[]" : "{}").utf8))
            let status = try #require(FileStatus(store.path(of: file)))
            #expect(status.permissions == 0o600)
            #expect(try #require(FileStatus(store.directory)).permissions == 0o700)
        }
    }

    @Test func keysAreReadByTheirPrefixAndShowNowhere() async throws {
        let secret = UUID().uuidString
        try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory)
            let content = #"{"lumiagent.apikey.openai":"\#(secret)","lumiagent.apikey.gemini":"","other":"x","n":1}"#
            try store.replace(.apiKeys, with: Array(content.utf8))
            let keys = try #require(try store.loadAPIKeys())
            #expect(keys.keys == ["openai": secret])
            var dumped = ""
            dump(keys, to: &dumped)
            #expect(!"\(keys)\(String(reflecting: keys))\(dumped)".contains(secret))
        }
    }

    @Test func settingsAreAnyObjectAndNothingElse() async throws {
        try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory)
            let content = Array(#"{"a":true,"b":1.5,"c":"x","d":null,"e":[1,{"f":null}]}"#.utf8)
            try store.replace(.settings, with: content)
            for other in ["[]", "7", "null", #""x""#, "{"] {
                let error = #expect(throws: LumiStoreError.self) {
                    try store.replace(.settings, with: Array(other.utf8))
                }
                #expect(error?.code == .malformed, "\(other)")
            }
            #expect(try PrivateFile.read(store.path(of: .settings)) == content)
        }
    }

    @Test func malformedKeysDoNotReachTheErrorText() async throws {
        let secret = UUID().uuidString
        try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory)
            let error = #expect(throws: LumiStoreError.self) {
                try store.replace(.apiKeys, with: Array(#"["\#(secret)"]"#.utf8))
            }
            let text = String(reflecting: try #require(error))
            #expect(!text.contains(secret))
        }
    }

    @Test(arguments: [-1e300, 1e300, 1e12])
    func aTimeThatNoClockGaveIsNone(seconds: Double) async throws {
        try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory)
            let content = #"[{"id":"\#(UUID().uuidString)","messages":[],"updatedAt":\#(seconds)}]"#
            try store.replace(.conversations, with: Array(content.utf8))
            try await withLumiChats(store, directory) { chats in
                let listed = try await chats.conversations.chats(projectID: LumiStore.otherProjectID)
                let chat = try #require(listed.first)
                #expect(chat.lastUpdatedAt == nil)
            }
        }
    }

    @Test func starsAreKept() async throws {
        let sample = LumiSample()
        try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory)
            #expect(try store.starred().isEmpty)
            try store.star(sample.agent, isStarred: true)
            #expect(try store.starred() == [sample.agent])
            try store.star(sample.agent, isStarred: false)
            #expect(try store.starred().isEmpty)
        }
    }

    @Test func aDamagedFileIsSaidAndLeftAsItIs() async throws {
        try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory)
            try Array("oops".utf8).withUnsafeBytes { try PrivateFile.write($0, to: store.path(of: .agents)) }
            let error = #expect(throws: LumiStoreError.self) { try store.loadAgents() }
            #expect(error?.code == .damaged)
            #expect(try PrivateFile.read(store.path(of: .agents)) == Array("oops".utf8))
        }
    }
}
