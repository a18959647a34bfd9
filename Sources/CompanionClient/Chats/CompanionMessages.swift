package import CompanionWire

/// The messages of a chat, oldest first, each once: pages are asked for as they are needed, and none is kept.
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

        /// How many messages and ids are held now: at most one page, and a window of ids.
        var retained: (messages: Int, ids: Int) { (current.count, pages.retained) }

        package mutating func next() async throws -> CompanionMessage? {
            while true {
                if let message = current.popFirst() { return message }
                guard let cursor = pages.next else { return nil }
                try Task.checkCancellation()
                let limit = MessagePages.pageSize
                current = pages.take(try await chats.messagesPage(chatID: chatID, cursor: cursor, limit: limit))[...]
            }
        }
    }
}

extension ChatBrowsing {
    /// All messages of a chat, oldest first, each once, in flat memory.
    package func messages(chatID: String) -> CompanionMessages {
        CompanionMessages(chats: self, chatID: chatID)
    }

    /// The last messages of a chat, oldest first.
    ///
    /// Walks the whole chat (hosts page from the oldest message on) and holds no more than are asked for.
    package func lastMessages(chatID: String, count: Int) async throws -> [CompanionMessage] {
        guard count > 0 else { return [] }
        var ring: [CompanionMessage] = []
        var oldest = 0
        for try await message in messages(chatID: chatID) {
            if ring.count < count {
                ring.append(message)
            } else {
                ring[oldest] = message
                oldest = (oldest + 1) % count
            }
        }
        return Array(ring[oldest...] + ring[..<oldest])
    }
}
