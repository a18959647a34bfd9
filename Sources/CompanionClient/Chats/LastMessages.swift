package import CompanionWire

/// The last messages of those that came, up to a number, each once: where it came last.
///
/// When older messages are imported during a walk, its next page begins earlier in the chat than the one before ended.
/// What was read already then comes again, behind what is older: so the last time that a message comes counts.
struct LastMessages: Sendable {
    private let capacity: Int
    /// With messages that came again later, and some that are too many: tidied now and then.
    private var messages: [(turn: Int, message: CompanionMessage)] = []
    private var latest: [String: Int] = [:]
    private var turn = 0

    init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    /// How many messages are held now: at most twice the number asked for, and a page.
    var retained: Int { messages.count }

    mutating func append(_ page: [CompanionMessage]) {
        for message in page {
            messages.append((turn, message))
            latest[message.id] = turn
            turn += 1
        }
        if messages.count / 2 >= max(capacity, MessagePages.pageSize / 2) { tidy() }
    }

    /// Oldest first.
    var elements: [CompanionMessage] {
        Array(valid.suffix(capacity).map(\.message))
    }

    private var valid: [(turn: Int, message: CompanionMessage)] {
        messages.filter { latest[$0.message.id] == $0.turn }
    }

    private mutating func tidy() {
        messages = valid.suffix(capacity)
        latest = Dictionary(uniqueKeysWithValues: messages.map { ($0.message.id, $0.turn) })
    }
}

extension ChatBrowsing {
    /// The last messages of a chat, oldest first.
    ///
    /// Long chats are not read from their beginning: where they end is found first, if the host's cursors allow it.
    /// Holds about twice as many messages as are asked for.
    package func lastMessages(chatID: String, count: Int) async throws -> [CompanionMessage] {
        guard count > 0 else { return [] }
        var pages = MessagePages()
        var last = LastMessages(capacity: count)
        while let page = try await pages.fetch(from: self, chatID: chatID) {
            last.append(page.messages)
            guard pages.taken == MessagePages.pagesBeforeJump,
                let end = try await lastPageOffset(chatID: chatID, after: pages),
                let found = try await lastMessages(chatID: chatID, count: count, before: end, after: pages)
            else { continue }
            return found
        }
        return last.elements
    }

    /// - Returns: Nil when it takes the whole walk.
    private func lastMessages(
        chatID: String,
        count: Int,
        before end: Int,
        after walked: MessagePages
    ) async throws -> [CompanionMessage]? {
        guard let next = walked.next, let current = next.flatMap(Int.init) else { return nil }
        var distance = count
        while end + 1 - distance > current {
            var pages = MessagePages(from: String(end + 1 - distance))
            var last = LastMessages(capacity: count)
            while let page = try await pages.fetch(from: self, chatID: chatID) { last.append(page.messages) }
            let found = last.elements
            if found.count == count { return found }
            // Some cannot be read, came twice, or were removed meanwhile: farther back are more.
            distance = max(distance * 2, MessagePages.pageSize)
        }
        return nil
    }
}
