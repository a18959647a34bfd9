import FoundationEssentials

/// Limits what strangers can write to the log: one line per peer and minute, which says how many were left out
/// since the last. A value: the caller passes the time.
struct PeerLogLimiter: Sendable {
    /// Seconds between two lines of one peer.
    static let interval: TimeInterval = 60
    /// How many peers have a line of their own; all others share one.
    static let peers = 1024

    /// A line that says how many were left out.
    struct Suppressed: Sendable, Hashable {
        var peer: String
        var count: Int
    }

    private struct Entry: Sendable {
        var writtenAt: Date
        var leftOut = 0
    }

    private var entries: [String: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// Asks whether a line about a peer may be written.
    ///
    /// - Returns: The peer that the line names, and how many lines were left out before it; nil if it is to be left
    ///   out.
    mutating func note(_ peer: String, now: Date) -> Suppressed? {
        let key = entries[peer] != nil || entries.count < Self.peers ? peer : "others"
        if let entry = entries[key], now.timeIntervalSince(entry.writtenAt) < Self.interval {
            entries[key]?.leftOut += 1
            return nil
        }
        let leftOut = entries[key]?.leftOut ?? 0
        entries[key] = Entry(writtenAt: now)
        return Suppressed(peer: key, count: leftOut)
    }

    /// Forgets peers whose minute is over.
    ///
    /// - Returns: Those of which something was left out: a line is due.
    mutating func takeOver(now: Date) -> [Suppressed] {
        let over = entries.filter { now.timeIntervalSince($0.value.writtenAt) >= Self.interval }
        for key in over.keys { entries[key] = nil }
        return over.filter { $0.value.leftOut > 0 }.map { Suppressed(peer: $0.key, count: $0.value.leftOut) }
            .sorted { $0.peer < $1.peer }
    }
}
