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
            let chat = try #require(try await store.chats(projectID: LumiStore.otherProjectID).first)
            #expect(chat.lastUpdatedAt == nil)
        }
    }
}

@Suite struct LumiStoreBrowsingTests {
    private func withStore<R>(_ body: (LumiStore, LumiSample) async throws -> R) async throws -> R {
        let sample = LumiSample()
        return try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory)
            try store.replace(.agents, with: Array("[\(sample.agents())]".utf8))
            try store.replace(.conversations, with: Array("[\(sample.conversations)]".utf8))
            return try await body(store, sample)
        }
    }

    @Test func anAgentIsAProjectAndAConversationAChat() async throws {
        try await withStore { store, sample in
            let project = try #require(try await store.mergedProjects().first)
            #expect(project.project.name == "Ada")
            #expect(LumiStore.agentID(path: project.project.localPath) == sample.agent)
            let chats = try await store.chats(of: project)
            #expect(chats.map(\.title) == ["Tides"])
            let messages = try await store.lastMessages(chatID: try #require(chats.first).id, count: 10)
            #expect(messages.map(\.text) == ["Why?", "The moon. [picture]"])
            #expect(messages.map(\.role) == [.user, .assistant])
        }
    }

    @Test func whatWasSaidHereIsPutBehindWhatWasPulledAndOutlivesAPull() async throws {
        try await withStore { store, sample in
            let pulled = try #require(try store.conversation(sample.conversation))
            let later = Date(timeIntervalSinceReferenceDate: 700_000_900)
            try store.append([LumiMessage(id: UUID(), role: "user", content: "And?", timestamp: later)], to: pulled)
            try store.append([LumiMessage(id: UUID(), role: "agent", content: "So.", timestamp: later)], to: pulled)
            try store.replace(.conversations, with: Array("[\(sample.conversations)]".utf8))
            let merged = try #require(try store.conversation(sample.conversation))
            #expect(merged.messages.map(\.content) == ["Why?", "The moon.", "And?", "So."])
            #expect(merged.title == "Tides")
            #expect(merged.lastActivity == later)
            // The Mac may forget a conversation: what was said here stays.
            try store.replace(.conversations, with: Array("[]".utf8))
            #expect(try store.conversation(sample.conversation)?.messages.map(\.content) == ["And?", "So."])
            #expect(try store.conversations().count == 1)
        }
    }

    @Test func pagesAreCutAndGoOn() async throws {
        try await withStore { store, sample in
            let id = LumiStore.id(sample.conversation)
            let first = try await store.messagesPage(chatID: id, cursor: nil, limit: 1)
            #expect(first.messages.elements.map(\.text) == ["Why?"])
            let second = try await store.messagesPage(chatID: id, cursor: first.nextCursor, limit: 1)
            #expect(second.messages.elements.count == 1)
            #expect(second.nextCursor == nil)
            #expect(try await store.messagesPage(chatID: id, cursor: "-7", limit: 9).messages.elements.count == 2)
            #expect(try await store.messagesPage(chatID: "../x", cursor: nil, limit: 9).messages.elements.isEmpty)
        }
    }

    @Test func whatWasListedIsRememberedUntilItIsListedAgainOrSomethingIsWritten() async throws {
        try await withStore { store, sample in
            let project = LumiStore.id(sample.agent)
            func titles() async throws -> [String] { try await store.chats(projectID: project).map(\.title) }
            _ = try await store.projects()
            // Another process pulls.
            try LumiStore(directory: store.directory).replace(.conversations, with: Array("[]".utf8))
            var found = try await titles()
            #expect(found == ["Tides"], "what the projects were listed with")
            _ = try await store.projects()
            found = try await titles()
            #expect(found.isEmpty, "listed anew")
            try store.replace(.conversations, with: Array("[\(sample.conversations)]".utf8))
            found = try await titles()
            #expect(found == ["Tides"], "pulled here")
            let new = LumiConversation(id: UUID(), title: "Winds", participantIds: [sample.agent])
            try store.append([LumiMessage(id: UUID(), role: "user", content: "And?")], to: new)
            found = try await titles()
            #expect(Set(found) == ["Tides", "Winds"], "said here")
        }
    }

    @Test func aChatStaysAsItWasOnItsFirstPageUntilThatIsReadAgain() async throws {
        try await withStore { store, sample in
            let id = LumiStore.id(sample.conversation)
            func texts(_ cursor: String?) async throws -> [String] {
                try await store.messagesPage(chatID: id, cursor: cursor, limit: 1).messages.elements.map(\.text)
            }
            var found = try await texts(nil)
            #expect(found == ["Why?"])
            try LumiStore(directory: store.directory).replace(.conversations, with: Array("[]".utf8))
            found = try await texts("1")
            #expect(found == ["The moon. [picture]"])
            found = try await texts(nil)
            #expect(found.isEmpty)
            let conversation = LumiConversation(id: sample.conversation, participantIds: [sample.agent])
            try store.append([LumiMessage(id: UUID(), role: "user", content: "One")], to: conversation)
            found = try await texts(nil)
            #expect(found == ["One"])
            try store.append([LumiMessage(id: UUID(), role: "user", content: "Two")], to: conversation)
            found = try await texts("1")
            #expect(found == ["Two"], "said here")
        }
    }

    @Test func aDamagedFileOfOneConversationKeepsNoOtherFromBeingListed() async throws {
        try await withStore { store, sample in
            let (made, damaged) = (UUID(), UUID())
            for id in [sample.conversation, made, damaged] {
                let conversation = LumiConversation(id: id, participantIds: [sample.agent])
                try store.append([LumiMessage(id: UUID(), role: "user", content: "And?")], to: conversation)
            }
            for id in [sample.conversation, damaged] {
                let path = "\(store.directory)/local/\(id.uuidString).json"
                try Array("oops".utf8).withUnsafeBytes { try PrivateFile.write($0, to: path) }
            }
            let projects = try await store.projects()
            #expect(projects.map(\.id).sorted() == [LumiStore.id(sample.agent), LumiStore.otherProjectID].sorted())
            let whole = try await store.chats(projectID: LumiStore.id(sample.agent)).map(\.id)
            #expect(Set(whole) == [LumiStore.id(sample.conversation), LumiStore.id(made)])
            let others = try await store.chats(projectID: LumiStore.otherProjectID)
            #expect(others.map(\.id) == [LumiStore.id(damaged)])
            let messages = try await store.lastMessages(chatID: LumiStore.id(made), count: 5)
            #expect(messages.map(\.text) == ["And?"])
            for id in [sample.conversation, damaged] {
                let error = await #expect(throws: LumiStoreError.self) {
                    try await store.lastMessages(chatID: LumiStore.id(id), count: 5)
                }
                #expect(error?.code == .damaged)
                #expect(error?.message.contains(id.uuidString) == true)
            }
        }
    }

    @Test func starsAreKept() async throws {
        try await withStore { store, sample in
            #expect(try store.starred().isEmpty)
            try store.star(sample.agent, true)
            #expect(try store.starred() == [sample.agent])
            try store.star(sample.agent, false)
            #expect(try store.starred().isEmpty)
        }
    }

    @Test func aDamagedFileIsSaidAndLeftAsItIs() async throws {
        try await withStore { store, _ in
            try Array("oops".utf8).withUnsafeBytes { try PrivateFile.write($0, to: store.path(of: .agents)) }
            let error = #expect(throws: LumiStoreError.self) { try store.loadAgents() }
            #expect(error?.code == .damaged)
            #expect(try PrivateFile.read(store.path(of: .agents)) == Array("oops".utf8))
        }
    }
}
