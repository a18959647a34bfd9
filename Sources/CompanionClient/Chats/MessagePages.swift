import CompanionWire

/// Reads the pages of a chat: a state machine that says which page to request, and takes it.
///
/// Offsets shift when older messages are imported during the read, so messages can come twice; they are recognised by
/// their ids. Only the last ``window`` ids are kept, so that memory does not grow with the chat.
struct MessagePages: Sendable {
    /// How many ids are remembered. About this many messages can be imported meanwhile without causing duplicates.
    static let window = 4096
    /// The most messages that hosts return per page.
    static let pageSize = 200
    /// The fewest messages that are asked for from the end of a chat.
    static let shortestEnd = 50

    /// The number of pages after which a reduced limit grows again.
    static let pagesUntilGrowth = 4

    /// The cursor of the page to request. An inner nil means the beginning; an outer nil means that there are no more
    /// pages.
    private(set) var next: String??
    /// How many messages to request. Halved if a page is too large for one answer.
    private(set) var limit = pageSize
    /// The number of pages so far.
    private(set) var taken = 0
    private var pagesWithLimit = 0
    private var recent = RecentIdentifiers(capacity: window)

    init(from cursor: String? = nil) {
        next = .some(cursor)
    }

    /// The number of ids in memory.
    var retained: Int { recent.count }

    /// Takes the page that was requested with ``next``, or one that begins anywhere, after which ``next`` goes on.
    ///
    /// - Returns: The messages that did not come before.
    mutating func take(_ page: CompanionMessagesPageResponse) -> [CompanionMessage] {
        next = following(page)
        taken += 1
        pagesWithLimit += 1
        if pagesWithLimit >= Self.pagesUntilGrowth, limit < Self.pageSize { change(limit: limit * 2) }
        return page.messages.elements.filter { recent.insert($0.id) }
    }

    /// Halves the number of messages to request.
    ///
    /// - Returns: Whether that was possible: a page has at least one message.
    mutating func shrink() -> Bool {
        guard limit > 1 else { return false }
        change(limit: limit / 2)
        return true
    }

    private mutating func change(limit: Int) {
        self.limit = min(limit, Self.pageSize)
        pagesWithLimit = 0
    }

    /// The next cursor if it makes progress: a host that repeats a cursor must not cause an endless loop.
    private func following(_ page: CompanionMessagesPageResponse) -> String?? {
        guard let cursor = page.nextCursor, !cursor.isEmpty, case .some(let current) = next else { return nil }
        guard page.count > 0 else { return nil }
        switch (Int(cursor), Int(current ?? "0")) {
        case (let new?, let old?): return new > old ? .some(cursor) : nil
        default: return cursor == current ? nil : .some(cursor)
        }
    }
}

extension MessagePages {
    /// A page as received.
    struct Page: Sendable {
        let cursor: String?
        /// All messages that could be read.
        let messages: [CompanionMessage]
        /// The messages that did not come before.
        let new: [CompanionMessage]
        /// Whether the host returned no messages.
        let isEmpty: Bool
    }

    /// Requests the next page, with fewer messages if it is too large for one answer.
    ///
    /// - Returns: nil if there are no more pages.
    mutating func fetch(from chats: some ChatBrowsing, chatID: String) async throws -> Page? {
        guard let cursor = next else { return nil }
        return try await fetch(at: cursor) {
            try await chats.messagesPage(chatID: chatID, cursor: cursor, limit: $0)
        }
    }

    /// Requests the page that begins so many messages before the chat's end. ``fetch(from:chatID:)`` goes on behind it.
    ///
    /// - Returns: nil if the host cannot find the end; then no page was taken.
    mutating func fetchLast(_ count: Int, from chats: some ChatBrowsing, chatID: String) async throws -> Page? {
        try await fetch(at: nil) { try await chats.lastPage(chatID: chatID, count: count, limit: $0) }
    }

    private mutating func fetch(
        at cursor: String?,
        _ request: (_ limit: Int) async throws -> CompanionMessagesPageResponse?
    ) async throws -> Page? {
        while true {
            try Task.checkCancellation()
            do {
                guard let page = try await request(limit) else { return nil }
                let all = page.messages.elements
                let isEmpty = page.count == 0
                return Page(cursor: cursor ?? page.firstCursor, messages: all, new: take(page), isEmpty: isEmpty)
            } catch let error as CompanionClientError where error.code == .tooLarge {
                guard shrink() else { throw error }
            }
        }
    }
}

extension CompanionMessagesPageResponse {
    /// The number of messages on the page, including the unreadable ones.
    var count: Int { messages.elements.count + messages.dropped }
}
