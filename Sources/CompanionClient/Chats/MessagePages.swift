import CompanionWire

/// Walks the pages of a chat: a value that says which page to ask for, and takes it.
///
/// Offsets shift when older messages are imported while one walks, so messages come twice: they are known by their ids.
/// Only the last ``window`` ids are kept, so that memory does not grow with the chat.
struct MessagePages: Sendable {
    /// How many ids are remembered: messages that were imported meanwhile, up to about this number, do no harm.
    static let window = 4096
    /// The most messages that hosts give at a time.
    static let pageSize = 200

    /// After how many pages a search for the end is worth its questions.
    static let pagesBeforeJump = 2
    /// After how many pages a smaller limit grows again.
    static let pagesUntilGrowth = 4

    /// The cursor of the page to ask for. Nil inside: the beginning. Nil: there is no more.
    private(set) var next: String??
    /// How many messages to ask for. Halved when they are too large for one answer.
    private(set) var limit = pageSize
    /// How many pages were taken.
    private(set) var taken = 0
    /// Whether each cursor so far was a number: that of the messages before it.
    private(set) var hasOffsets = true
    private var pagesWithLimit = 0
    private var recent = RecentIdentifiers(capacity: window)

    init(from cursor: String? = nil) {
        next = .some(cursor)
    }

    /// How many ids are held now.
    var retained: Int { recent.count }

    /// Takes the page that ``next`` asked for.
    ///
    /// - Returns: Its messages that did not come before.
    mutating func take(_ page: CompanionMessagesPageResponse) -> [CompanionMessage] {
        noteOffset(of: page)
        next = following(page)
        taken += 1
        pagesWithLimit += 1
        if pagesWithLimit >= Self.pagesUntilGrowth, limit < Self.pageSize { change(limit: limit * 2) }
        return page.messages.elements.filter { recent.insert($0.id) }
    }

    /// Asks for half as many messages from now on.
    ///
    /// - Returns: Whether that is possible: a page has at least one message.
    mutating func shrink() -> Bool {
        guard limit > 1 else { return false }
        change(limit: limit / 2)
        return true
    }

    /// Goes on at another message, counted from the oldest one.
    mutating func jump(to offset: Int) {
        next = .some(String(offset))
    }

    private mutating func change(limit: Int) {
        self.limit = min(limit, Self.pageSize)
        pagesWithLimit = 0
    }

    private mutating func noteOffset(of page: CompanionMessagesPageResponse) {
        guard case .some(let current) = next, let cursor = page.nextCursor else { return }
        hasOffsets = hasOffsets && Int(current ?? "0").map { $0 + page.count } == Int(cursor)
    }

    /// The next cursor, if it leads on: a host that repeats itself must not keep anyone for ever.
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
    /// A page as it was fetched.
    struct Page: Sendable {
        let cursor: String?
        /// All of its messages that could be read.
        let messages: [CompanionMessage]
        /// Those that did not come before.
        let new: [CompanionMessage]
        /// Whether the host had nothing there.
        let isEmpty: Bool
    }

    /// Fetches the next page, in smaller pieces if it is too large for one answer.
    ///
    /// - Returns: Nil when there is no more.
    mutating func fetch(from chats: some ChatBrowsing, chatID: String) async throws -> Page? {
        while let cursor = next {
            try Task.checkCancellation()
            do {
                let page = try await chats.messagesPage(chatID: chatID, cursor: cursor, limit: limit)
                let all = page.messages.elements
                return Page(cursor: cursor, messages: all, new: take(page), isEmpty: page.count == 0)
            } catch let error as CompanionClientError where error.code == .tooLarge {
                guard shrink() else { throw error }
            }
        }
        return nil
    }
}

extension CompanionMessagesPageResponse {
    /// How many messages the page has, with those that could not be read.
    var count: Int { messages.elements.count + messages.dropped }
}
