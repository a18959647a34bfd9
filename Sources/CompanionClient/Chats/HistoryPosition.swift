package import CompanionWire

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
