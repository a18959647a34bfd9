import CompanionWire

/// Finds where a chat ends with few questions: a value that says which message to ask for, and takes the answer.
///
/// Cursors are numbers of messages from the oldest one on (protocol v1, "pagination"), and there is nothing behind the
/// end: so the end is overshot by doubling the distance, and then closed in on by halving it.
struct ChatEndSearch: Sendable {
    enum Step: Sendable, Hashable {
        /// Ask for the one message at this offset.
        case ask(Int)
        /// The chat ends less than a page behind this offset, which has a message.
        case found(Int)
        /// The answers contradict each other: only a walk can tell.
        case giveUp
    }

    /// No chat has as many messages; a host that goes on without end is not followed.
    private static let mostPages = 1 << 32

    private(set) var step: Step
    private let base: Int
    private let unit: Int
    /// In pages behind ``base``: one that exists, the first one known not to, and one that was said to be the last.
    private var low = 0
    private var high: Int?
    private var last: Int?
    private var index = 1

    /// - Parameters:
    ///   - base: An offset that has a message.
    ///   - unit: How exactly the end is to be known: to a page of so many messages.
    init(from base: Int, unit: Int) {
        self.base = base
        self.unit = unit
        self.step = .ask(base + unit)
    }

    /// Takes the page of one message that was asked for.
    mutating func take(_ page: CompanionMessagesPageResponse) {
        guard case .ask(let offset) = step else { return }
        let cursor = page.nextCursor.flatMap { $0.isEmpty ? nil : $0 }
        switch (page.count, cursor) {
        case (0, nil):
            high = index
            proceed()
        case (1..., nil):
            takeMessage(isLast: true)
        case (1..., let cursor?) where Int(cursor) == offset + page.count:
            takeMessage(isLast: false)
        default:
            step = .giveUp
        }
    }

    /// Takes that there is a message.
    mutating func takeMessage(isLast: Bool) {
        // Some make the last message of any offset behind the end: nothing can come after a last one.
        guard last == nil else {
            step = .giveUp
            return
        }
        low = index
        if isLast { last = index }
        proceed()
    }

    private mutating func proceed() {
        index = high.map { (low + $0) / 2 } ?? low * 2
        if index == low || (high != nil && last == low) {
            step = .found(base + low * unit)
        } else {
            step = index < Self.mostPages ? .ask(base + index * unit) : .giveUp
        }
    }
}

extension ChatBrowsing {
    /// The offset of the last page of a chat, or somewhat before it, in about two questions for each doubling of the
    /// chat's length.
    ///
    /// - Parameter pages: A walk that has come some way.
    /// - Returns: Nil when the host's cursors are no offsets or its answers do not fit together: walk on, then.
    func lastPageOffset(chatID: String, after pages: MessagePages) async throws -> Int? {
        guard pages.hasOffsets, let next = pages.next, let base = next.flatMap(Int.init) else { return nil }
        var search = ChatEndSearch(from: base, unit: pages.limit)
        while case .ask(let offset) = search.step {
            try Task.checkCancellation()
            do {
                search.take(try await messagesPage(chatID: chatID, cursor: String(offset), limit: 1))
            } catch let error as CompanionClientError where error.code == .tooLarge {
                search.takeMessage(isLast: false)
            } catch let error as CompanionClientError
                where [.badRequest, .notFound, .badAnswer, .server].contains(error.code)
            {
                // Hosts may refuse an offset behind the end.
                return nil
            }
        }
        guard case .found(let offset) = search.step else { return nil }
        return offset
    }
}
