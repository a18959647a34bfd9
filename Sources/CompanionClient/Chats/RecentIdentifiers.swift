import CompanionWire

/// The last identifiers that were seen, up to a fixed number. Removes duplicates from a long list with constant memory.
struct RecentIdentifiers: Sendable {
    private let capacity: Int
    private var order: [ByteText] = []
    /// The index at which the next identifier replaces the oldest one, once ``order`` is full.
    private var oldest = 0
    private var known: Set<ByteText> = []

    init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    var count: Int { known.count }

    /// Remembers an identifier; when full, forgets the oldest one.
    ///
    /// - Returns: Whether it is new.
    mutating func insert(_ identifier: String) -> Bool {
        let identifier = ByteText(identifier)
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
