/// The last identifiers that were seen, up to a fixed number: what a long list is de-duplicated with in flat memory.
struct RecentIdentifiers: Sendable {
    private let capacity: Int
    private var order: [String] = []
    /// Where the next identifier goes once ``order`` is full: on the oldest.
    private var oldest = 0
    private var known: Set<String> = []

    init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    var count: Int { known.count }

    /// Remembers an identifier and forgets the oldest one for it when full.
    ///
    /// - Returns: Whether it is new.
    mutating func insert(_ identifier: String) -> Bool {
        guard known.insert(identifier).inserted else { return false }
        if order.count < capacity {
            order.append(identifier)
        } else {
            known.remove(order[oldest])
            order[oldest] = identifier
            oldest = (oldest + 1) % capacity
        }
        return true
    }
}
