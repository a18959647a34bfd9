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

    /// The cursor of the page to ask for. Nil inside: the beginning. Nil: there is no more.
    private(set) var next: String??
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
        next = following(page)
        return page.messages.elements.filter { recent.insert($0.id) }
    }

    /// The next cursor, if it leads on: a host that repeats itself must not keep anyone for ever.
    private func following(_ page: CompanionMessagesPageResponse) -> String?? {
        guard let cursor = page.nextCursor, !cursor.isEmpty, case .some(let current) = next else { return nil }
        guard !page.messages.elements.isEmpty || page.messages.dropped > 0 else { return nil }
        switch (Int(cursor), Int(current ?? "0")) {
        case (let new?, let old?): return new > old ? .some(cursor) : nil
        default: return cursor == current ? nil : .some(cursor)
        }
    }
}
