package import CompanionWire

/// How far a chat's history went at some moment: what comes behind it is new.
package struct HistoryPosition: Sendable, Hashable {
    /// The cursor of the last page. Nil: the chat's beginning.
    package var cursor: String?
    /// The ids of the last page's messages: at most 200.
    package var identifiers: [String]

    package init(cursor: String?, identifiers: [String]) {
        self.cursor = cursor
        self.identifiers = identifiers
    }

    /// Before the first message.
    package static let start = HistoryPosition(cursor: nil, identifiers: [])
}

extension ChatBrowsing {
    /// Goes to the end of a chat: the end of a long one is searched for, if the host's cursors allow it.
    ///
    /// - Parameter earlier: A position from before, which saves the way up to it.
    package func historyPosition(
        chatID: String,
        from earlier: HistoryPosition = .start
    ) async throws -> HistoryPosition {
        var pages = MessagePages(from: earlier.cursor)
        var position = earlier
        var hasSearched = false
        var beforeJump: MessagePages?
        while let page = try await pages.fetch(from: self, chatID: chatID) {
            if page.isEmpty, let walked = beforeJump {
                // What was there a moment ago is gone: messages were removed.
                pages = walked
                beforeJump = nil
                continue
            }
            beforeJump = nil
            if !page.new.isEmpty {
                position = HistoryPosition(cursor: page.cursor, identifiers: page.new.map(\.id))
            }
            guard !hasSearched, pages.taken == MessagePages.pagesBeforeJump else { continue }
            hasSearched = true
            guard let offset = try await lastPageOffset(chatID: chatID, after: pages) else { continue }
            beforeJump = pages
            pages.jump(to: offset)
        }
        return position
    }

    /// The messages behind a position, oldest first.
    ///
    /// Offsets shift when older messages are imported: what counts is which ids were known, not where they stand.
    package func messages(chatID: String, after position: HistoryPosition) async throws -> [CompanionMessage] {
        if let new = try await messages(chatID: chatID, after: position, from: position.cursor) { return new }
        guard position.cursor != nil else { return [] }
        // The page moved out of sight: messages were removed.
        return try await messages(chatID: chatID, after: position, from: nil) ?? []
    }

    /// - Returns: Nil when none of the position's messages is there.
    private func messages(
        chatID: String,
        after position: HistoryPosition,
        from cursor: String?
    ) async throws -> [CompanionMessage]? {
        let known = Set(position.identifiers)
        var isBehind = known.isEmpty
        var new: [CompanionMessage] = []
        var pages = MessagePages(from: cursor)
        while let page = try await pages.fetch(from: self, chatID: chatID) {
            for message in page.new {
                if known.contains(message.id) {
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
