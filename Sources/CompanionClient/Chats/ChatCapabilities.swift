package import CompanionWire

/// A host that lists projects and their chats.
package protocol ProjectBrowsing: Sendable {
    /// The projects as the host lists them, newest first. ``ProjectMerger`` merges them for display.
    func projects() async throws -> [CompanionProject]
    /// The chats of a project, newest first; none for an unknown project.
    func chats(projectID: String) async throws -> [CompanionChat]
}

/// A host that knows what its agents have changed, and where they work.
package protocol ChangeReporting: Sendable {
    /// Returns the changes to files since a chat's session began.
    ///
    /// - Parameters:
    ///   - wantsDifference: Whether the full difference is wanted, not only the list of files.
    ///   - file: The only file or directory that is wanted.
    func changes(chatID: String, wantsDifference: Bool, file: String?) async throws -> ChatChangesResponse
    /// The sessions in projects under git, the newest first.
    func worktrees() async throws -> [Worktree]
    /// One session, with what would be lost with its working tree.
    func worktree(ofChat id: String) async throws -> Worktree
    /// Removes the working tree and the branch of a session.
    ///
    /// - Parameter isForced: Whether also with work that is lost by that.
    func removeWorktree(ofChat id: String, isForced: Bool) async throws -> Worktree
}

/// A host that shows the messages of a chat.
package protocol ChatBrowsing: Sendable {
    /// One page of a chat, oldest message first; empty for an unknown chat.
    ///
    /// - Parameters:
    ///   - cursor: A `nextCursor` from the host; nil begins at the oldest message.
    ///   - limit: The most messages per page; clamped to 1…200.
    func messagesPage(chatID: String, cursor: String?, limit: Int) async throws -> CompanionMessagesPageResponse
    /// The page that begins so many messages before the end of a chat, with its `firstCursor`. Default: nil.
    ///
    /// - Parameters:
    ///   - count: How many messages; they may take more than this page.
    ///   - limit: The most messages per page; clamped to 1…200.
    /// - Returns: nil if the host cannot find the end.
    func lastPage(chatID: String, count: Int, limit: Int) async throws -> CompanionMessagesPageResponse?
    /// Returns the position of a chat's last messages when they were last read. Default: nil, which means unknown.
    ///
    /// - Parameter count: How many messages; the chat may have fewer.
    func knownEnd(chatID: String, count: Int) async -> HistoryPosition?
}

extension ChatBrowsing {
    package func lastPage(chatID: String, count: Int, limit: Int) async throws -> CompanionMessagesPageResponse? { nil }
    package func knownEnd(chatID: String, count: Int) async -> HistoryPosition? { nil }
}

/// The messages of a chat, oldest first, each once. Pages are requested as they are needed and not kept.
package struct CompanionMessages: AsyncSequence, Sendable {
    package typealias Element = CompanionMessage
    package typealias Failure = any Error

    private let chats: any ChatBrowsing
    private let chatID: String

    init(chats: any ChatBrowsing, chatID: String) {
        self.chats = chats
        self.chatID = chatID
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chats: chats, chatID: chatID)
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        private let chats: any ChatBrowsing
        private let chatID: String
        private var pages = MessagePages()
        private var current: ArraySlice<CompanionMessage> = []

        fileprivate init(chats: any ChatBrowsing, chatID: String) {
            self.chats = chats
            self.chatID = chatID
        }

        /// How many messages and ids are in memory: at most one page, and a window of ids.
        var retained: (messages: Int, ids: Int) { (current.count, pages.retained) }

        package mutating func next() async throws -> CompanionMessage? {
            while true {
                if let message = current.popFirst() { return message }
                guard let page = try await pages.fetch(from: chats, chatID: chatID) else { return nil }
                current = page.new[...]
            }
        }
    }
}

extension ChatBrowsing {
    /// All messages of a chat, oldest first, each once, with constant memory.
    package func messages(chatID: String) -> CompanionMessages {
        CompanionMessages(chats: self, chatID: chatID)
    }
}
