import CompanionWire

/// Finds the end of a chat with few requests. A state machine that says which message to request, and takes the answer.
///
/// Cursors are message numbers, counted from the oldest message (protocol v1, "pagination"), and a page after the end
/// is empty. So the distance is doubled until it passes the end, then halved.
struct ChatEndSearch: Sendable {
    enum Step: Sendable, Hashable {
        /// Request the single message at this offset.
        case ask(Int)
        /// The chat ends less than a page after this offset, which has a message.
        case found(Int)
        /// The answers contradict each other, so the pages have to be read one by one.
        case giveUp
    }

    /// An upper bound that no chat reaches. It ends the search if a host always returns another message.
    private static let mostPages = 1 << 32

    private(set) var step: Step
    private let base: Int
    private let unit: Int
    /// In pages after ``base``: the highest that exists, the lowest that does not, and one that the host called the
    /// last.
    private var low = 0
    private var high: Int?
    private var last: Int?
    private var index = 1

    /// - Parameters:
    ///   - base: An offset that has a message.
    ///   - unit: The precision of the result: the number of messages of a page.
    init(from base: Int, unit: Int) {
        self.base = base
        self.unit = unit
        self.step = .ask(base + unit)
    }

    /// Takes the page with the requested message.
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

    /// Records that there is a message at the requested offset.
    mutating func takeMessage(isLast: Bool) {
        // Some hosts return the last message for any offset after the end. A message after the last one is a
        // contradiction.
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
    /// The offset of the last page of a chat, or an offset shortly before it. Takes about two requests for each
    /// doubling of the chat's length.
    ///
    /// - Parameter pages: The pages that were read so far.
    /// - Returns: nil if the host's cursors are not offsets or its answers contradict each other; then read page by
    ///   page.
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
                // Hosts may refuse an offset after the end.
                return nil
            }
        }
        guard case .found(let offset) = search.step else { return nil }
        return offset
    }
}
