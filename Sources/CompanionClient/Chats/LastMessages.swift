package import CompanionWire

/// Keeps the last messages of a sequence, up to a number. Of repeated messages, only the last occurrence counts.
///
/// When older messages are imported while the pages are read, the next page begins earlier in the chat than the
/// previous one ended. Messages that were already read then come again, after older ones.
struct LastMessages: Sendable {
    private let capacity: Int
    /// Includes repeated and surplus messages, which are removed from time to time.
    private var messages: [(turn: Int, message: CompanionMessage)] = []
    private var latest: [ByteText: Int] = [:]
    private var turn = 0

    init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    /// How many messages are in memory: at most twice the requested number, plus a page.
    var retained: Int { messages.count }

    mutating func append(_ page: [CompanionMessage]) {
        for message in page {
            messages.append((turn, message))
            latest[ByteText(message.id)] = turn
            turn += 1
        }
        if messages.count / 2 >= max(capacity, MessagePages.pageSize / 2) { tidy() }
    }

    /// Oldest first.
    var elements: [CompanionMessage] {
        Array(valid.suffix(capacity).map(\.message))
    }

    private var valid: [(turn: Int, message: CompanionMessage)] {
        messages.filter { latest[ByteText($0.message.id)] == $0.turn }
    }

    private mutating func tidy() {
        messages = valid.suffix(capacity)
        latest = Dictionary(uniqueKeysWithValues: messages.map { (ByteText($0.message.id), $0.turn) })
    }
}

extension ChatBrowsing {
    /// The last messages of a chat, oldest first.
    ///
    /// Begins at the chat's end if the host finds it, else where the chat ended when it was read before, if that is known
    /// and still so, else at the chat's beginning. Holds about twice as many messages as requested.
    package func lastMessages(chatID: String, count: Int) async throws -> [CompanionMessage] {
        guard count > 0 else { return [] }
        var pages = MessagePages()
        var last = LastMessages(capacity: count)
        // More than are wanted: what a turn has left is kept with its place then, and a page costs about the same.
        let asked = max(count, MessagePages.shortestEnd)
        if let first = try await pages.fetchLast(asked, from: self, chatID: chatID) {
            last.append(first.messages)
            while let page = try await pages.fetch(from: self, chatID: chatID) { last.append(page.messages) }
            let found = last.elements
            if found.count == count || first.cursor == "0" { return found }
            // Some of them cannot be read, so that earlier ones are wanted.
            pages = MessagePages()
            last = LastMessages(capacity: count)
        } else if let known = await knownEnd(chatID: chatID, count: count),
            let found = try await lastMessages(chatID: chatID, count: count, from: known)
        {
            return found
        }
        while let page = try await pages.fetch(from: self, chatID: chatID) { last.append(page.messages) }
        return last.elements
    }

    /// Reads on from where the chat ended before.
    ///
    /// - Returns: nil if its messages there are others now, as something before them was removed, inserted or moved, and
    ///   if they are too few.
    private func lastMessages(
        chatID: String,
        count: Int,
        from known: HistoryPosition
    ) async throws -> [CompanionMessage]? {
        var pages = MessagePages(from: known.cursor)
        var last = LastMessages(capacity: count)
        var expected = known.identifiers[...]
        do {
            while let page = try await pages.fetch(from: self, chatID: chatID) {
                guard zip(page.messages, expected).allSatisfy({ $0.id.isSame(as: $1) }) else { return nil }
                expected = expected.dropFirst(page.messages.count)
                last.append(page.messages)
            }
        } catch let error as CompanionClientError where error.mayRefuseOffset {
            return nil
        }
        let found = last.elements
        return found.count == count || known.cursor == "0" ? found : nil
    }
}
