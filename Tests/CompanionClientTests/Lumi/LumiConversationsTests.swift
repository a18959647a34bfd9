import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import History
import LocalState
import Testing

@Suite struct LumiConversationsTests {
    private func withChats<R>(_ body: (LumiChats, LumiSample) async throws -> R) async throws -> R {
        let sample = LumiSample()
        return try await withTemporaryDirectory { directory in
            let store = LumiStore(directory: directory + "/lumi")
            try store.replace(.agents, with: Array("[\(sample.agents())]".utf8))
            try store.replace(.conversations, with: Array("[\(sample.conversations)]".utf8))
            return try await withLumiChats(store, directory) { try await body($0, sample) }
        }
    }

    private func write(_ bytes: [UInt8], _ path: String) throws {
        try bytes.withUnsafeBytes { try PrivateFile.write($0, to: path) }
    }

    /// An answer that broke off, and a prompt with a picture.
    private func said(_ id: UUID, agent: UUID) -> LumiConversation {
        let time = Date(timeIntervalSinceReferenceDate: 700_000_900)
        return LumiConversation(
            id: id,
            title: "Winds",
            participantIds: [agent],
            messages: [
                LumiMessage(id: UUID(), role: "user", content: "See", timestamp: time, imageData: Data([1, 2])),
                LumiMessage(
                    id: UUID(),
                    role: "agent",
                    content: "A cl",
                    agentId: agent,
                    timestamp: time,
                    isStreaming: true
                ),
            ],
            createdAt: time,
            updatedAt: time
        )
    }

    @Test func anAgentIsAProjectAndAConversationAChat() async throws {
        try await withChats { chats, sample in
            let conversations = chats.conversations
            let project = try #require(try await conversations.mergedProjects().first)
            #expect(project.project.name == "Ada")
            #expect(LumiStore.agentID(path: project.project.localPath) == sample.agent)
            let listed = try await conversations.chats(of: project)
            #expect(listed.map(\.title) == ["Tides"])
            let messages = try await conversations.lastMessages(chatID: try #require(listed.first).id, count: 10)
            #expect(messages.map(\.text) == ["Why?", "The moon. [picture]"])
            #expect(messages.map(\.role) == [.user, .assistant])
        }
    }

    @Test func whatWasPulledIsMovedOnceAndItsFileIsGone() async throws {
        try await withChats { chats, sample in
            let (own, store) = (UUID(), chats.store)
            let pulled = try PrivateFile.read(store.path(of: .conversations)) ?? []
            for conversation in [said(own, agent: sample.agent), said(sample.conversation, agent: sample.agent)] {
                try await chats.conversations.append(conversation.messages, to: conversation)
            }
            // Again, as if the program had been killed after the transaction and before the file was removed.
            for round in 0..<3 {
                if round < 2 {
                    let name = round == 0 ? "conversations.json" : "conversations.taken.json"
                    try write(pulled, "\(store.directory)/\(name)")
                }
                let conversations = chats.conversations
                let listed = try await conversations.chats(projectID: LumiStore.id(sample.agent))
                #expect(listed.count == 2, "\(round)")
                let texts = try await conversations.lastMessages(chatID: LumiStore.id(own), count: 9).map(\.text)
                #expect(texts == ["See [picture]", "A cl [broken off]"], "\(round)")
                let merged = try #require(try await conversations.conversation(sample.conversation))
                #expect(merged.messages.map(\.content) == ["Why?", "The moon.", "See", "A cl"], "\(round)")
                #expect(merged.messages.map(\.isStreaming) == [false, false, false, true])
                #expect(merged.messages.map(\.imageData) == [nil, Data([1, 2, 3]), Data([1, 2]), nil])
                #expect(merged.messages.last?.agentId == sample.agent)
                let files = try FileManager.default.subpathsOfDirectory(atPath: store.directory)
                #expect(Set(files) == ["agents.json", "lock"], "\(round)")
                #expect(try await chats.history.status().messages == 6, "\(round)")
                #expect(try await conversations.pulledMark() == LumiStore.mark(of: pulled))
            }
        }
    }

    @Test func whatWasSaidHereIsPutBehindWhatWasPulledAndOutlivesAPull() async throws {
        try await withChats { chats, sample in
            let conversations = chats.conversations
            let pulled = try #require(try await conversations.conversation(sample.conversation))
            let later = Date(timeIntervalSinceReferenceDate: 700_000_900)
            for (role, text) in [("user", "And?"), ("agent", "So.")] {
                let message = LumiMessage(id: UUID(), role: role, content: text, timestamp: later)
                try await conversations.append([message], to: pulled)
            }
            try chats.store.replace(.conversations, with: Array("[\(sample.conversations)]".utf8))
            let merged = try #require(try await conversations.conversation(sample.conversation))
            // The sample's answer has another id each time: the Mac has replaced it.
            #expect(merged.messages.map(\.content) == ["Why?", "The moon.", "And?", "So."])
            #expect(merged.title == "Tides")
            #expect(merged.lastActivity == later)
            // The Mac may forget a conversation: what was said here stays.
            try chats.store.replace(.conversations, with: Array("[]".utf8))
            let rest = try await conversations.conversation(sample.conversation)
            #expect(rest?.messages.map(\.content) == ["And?", "So."])
            let listed = try await conversations.chats(projectID: LumiStore.id(sample.agent))
            #expect(listed.count == 1)
        }
    }

    @Test func twoThatWriteAtOnceLoseNothing() async throws {
        try await withChats { chats, sample in
            let conversation = LumiConversation(id: UUID(), title: "Winds", participantIds: [sample.agent])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let message = LumiMessage(id: UUID(), role: "user", content: "\(number)", timestamp: Date())
                        try await chats.conversations.append([message], to: conversation)
                        try await chats.conversations.move()
                    }
                }
                try await group.waitForAll()
            }
            let kept = try await chats.conversations.conversation(conversation.id)
            #expect(Set(kept?.messages.map(\.content) ?? []) == Set((0..<8).map { "\($0)" }))
        }
    }

    @Test func pagesAreCutAndGoOn() async throws {
        try await withChats { chats, sample in
            let (conversations, id) = (chats.conversations, LumiStore.id(sample.conversation))
            let first = try await conversations.messagesPage(chatID: id, cursor: nil, limit: 1)
            #expect(first.messages.elements.map(\.text) == ["Why?"])
            let second = try await conversations.messagesPage(chatID: id, cursor: first.nextCursor, limit: 1)
            #expect(second.messages.elements.count == 1)
            #expect(second.nextCursor == nil)
            let whole = try await conversations.messagesPage(chatID: id, cursor: "-7", limit: 9)
            #expect(whole.messages.elements.count == 2)
            let none = try await conversations.messagesPage(chatID: "../x", cursor: nil, limit: 9)
            #expect(none.messages.elements.isEmpty)
        }
    }

    @Test func aChatStaysAsItWasOnItsFirstPageUntilThatIsReadAgain() async throws {
        try await withChats { chats, sample in
            let (conversations, id) = (chats.conversations, LumiStore.id(sample.conversation))
            func texts(_ cursor: String?) async throws -> [String] {
                try await conversations.messagesPage(chatID: id, cursor: cursor, limit: 1).messages.elements.map(\.text)
            }
            var found = try await texts(nil)
            #expect(found == ["Why?"])
            // Another process pulls.
            try chats.store.replace(.conversations, with: Array("[]".utf8))
            try await chats.conversations.move()
            found = try await texts("1")
            #expect(found == ["The moon. [picture]"])
            found = try await texts(nil)
            #expect(found.isEmpty)
            let conversation = LumiConversation(id: sample.conversation, participantIds: [sample.agent])
            try await conversations.append([LumiMessage(id: UUID(), role: "user", content: "One")], to: conversation)
            found = try await texts(nil)
            #expect(found == ["One"])
            try await conversations.append([LumiMessage(id: UUID(), role: "user", content: "Two")], to: conversation)
            found = try await texts("1")
            #expect(found == ["Two"], "said here")
        }
    }

    @Test func pulledConversationsThatAreDamagedStayWhereTheNextPullReplacesThem() async throws {
        try await withChats { chats, sample in
            let (store, conversations) = (chats.store, chats.conversations)
            let (pulled, taken) = (store.path(of: .conversations), "\(store.directory)/conversations.taken.json")
            // The latter as if the program had been killed.
            for path in [pulled, taken] {
                try? FileManager.default.removeItem(atPath: pulled)
                try write(Array("oops".utf8), path)
                if path == taken { #expect(store.damagedLocalFiles() == [taken]) }
                let error = await #expect(throws: LumiStoreError.self) { try await conversations.move() }
                #expect(error?.code == .damaged)
                #expect(error?.message.contains(pulled) == true && error?.remedy?.contains("lumi sync") == true)
                #expect(try PrivateFile.read(pulled) == Array("oops".utf8))
                #expect(store.damagedPulledFiles() == [pulled])
                #expect(store.damagedLocalFiles().isEmpty)
            }
            try store.replace(.conversations, with: Array("[\(sample.conversations)]".utf8))
            let listed = try await conversations.chats(projectID: LumiStore.id(sample.agent))
            #expect(listed.map(\.title) == ["Tides"])
        }
    }

    @Test func chatsAreThoseOfTheListedAgentsUntilSomethingIsSaidHere() async throws {
        try await withChats { chats, sample in
            let (conversations, project) = (chats.conversations, LumiStore.id(sample.agent))
            _ = try await conversations.projects()
            let other = LumiConversation(id: UUID(), title: "Winds", participantIds: [sample.agent])
            let message = LumiMessage(id: UUID(), role: "user", content: "See")
            // Of another process.
            try await chats.conversations.append([message], to: other)
            var titles = try await conversations.chats(projectID: project).map(\.title)
            #expect(titles == ["Tides"])
            #expect(try await conversations.chats(projectID: LumiStore.otherProjectID).isEmpty)
            let own = LumiConversation(id: UUID(), title: "Rain", participantIds: [sample.agent])
            try await conversations.append([LumiMessage(id: UUID(), role: "user", content: "Why?")], to: own)
            titles = try await conversations.chats(projectID: project).map(\.title)
            #expect(Set(titles) == ["Tides", "Winds", "Rain"])
        }
    }

    @Test func aConversationWithoutATitleHasTheBeginningOfItsFirstLineByScalars() {
        func title(_ text: String) -> String {
            LumiConversation(id: UUID(), messages: [LumiMessage(id: UUID(), role: "user", content: text)]).displayTitle
        }
        #expect(title("\r\nWhy is\tit so?\r\nAnd") == "Why is\tit so?")
        #expect(title("Why\u{A0}is\u{3000}it?\u{2028}And") == "Why\u{A0}is\u{3000}it?")
        #expect(title("\n\n") == "Conversation")
        #expect(title("a" + String(repeating: "\u{301}", count: 5000)).unicodeScalars.count <= 60)
    }
}
