package import CompanionWire

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
