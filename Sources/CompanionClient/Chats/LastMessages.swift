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

/// The end of a chat's history at some moment. Messages after it are new.
package struct HistoryPosition: Sendable, Hashable {
    /// The cursor of the last page; nil for the chat's beginning.
    package var cursor: String?
    /// The ids of the last page's messages: at most 200.
    package var identifiers: [String]

    init(cursor: String?, identifiers: [String]) {
        self.cursor = cursor
        self.identifiers = identifiers
    }

    /// Before the first message.
    package static let start = HistoryPosition(cursor: nil, identifiers: [])
}

extension ChatBrowsing {
    /// Finds the end of a chat, page by page.
    ///
    /// - Parameter earlier: An earlier position; the messages before it are not read again.
    package func historyPosition(
        chatID: String,
        from earlier: HistoryPosition = .start
    ) async throws -> HistoryPosition {
        var pages = MessagePages(from: earlier.cursor)
        var position = earlier
        do {
            while let page = try await pages.fetch(from: self, chatID: chatID) {
                if page.isEmpty, pages.taken == 1, earlier.cursor != nil {
                    // Messages were removed since, so that the chat ends before the earlier position.
                    return try await historyPosition(chatID: chatID)
                }
                if !page.new.isEmpty {
                    position = HistoryPosition(cursor: page.cursor, identifiers: page.new.map(\.id))
                }
            }
        } catch let error as CompanionClientError
            where earlier.cursor != nil && pages.taken == 0 && error.mayRefuseOffset
        {
            return try await historyPosition(chatID: chatID)
        }
        return position
    }

    /// The messages after a position, oldest first.
    ///
    /// Offsets shift when older messages are imported, so known messages are recognised by their ids, not by their
    /// offsets.
    package func messages(chatID: String, after position: HistoryPosition) async throws -> [CompanionMessage] {
        if let new = try await messages(chatID: chatID, after: position, from: position.cursor) { return new }
        guard position.cursor != nil else { return [] }
        // Messages were removed, so the page is no longer at that offset.
        return try await messages(chatID: chatID, after: position, from: nil) ?? []
    }

    /// - Returns: nil if none of the position's messages is found.
    private func messages(
        chatID: String,
        after position: HistoryPosition,
        from cursor: String?
    ) async throws -> [CompanionMessage]? {
        let known = Set(position.identifiers.map(ByteText.init))
        var isBehind = known.isEmpty
        var new: [CompanionMessage] = []
        var pages = MessagePages(from: cursor)
        while let page = try await pages.fetch(from: self, chatID: chatID) {
            for message in page.new {
                if known.contains(ByteText(message.id)) {
                    isBehind = true
                    new.removeAll()
                } else if isBehind {
                    new.append(message)
                }
            }
        }
        return isBehind ? new : nil
    }
}

extension CompanionClientError {
    /// Whether a host may say so to an offset after the end of a chat.
    var mayRefuseOffset: Bool { [.badRequest, .notFound, .badAnswer, .server].contains(code) }
}
