/// Which files of a directory have been written completely: a state machine that is fed with what the system says of
/// them.
///
/// A program may write a file in pieces and close it several times, or write it under another name and rename it. So a
/// file counts as complete once it was closed and left alone for ``settleTime``, or at once where it was renamed into
/// place.
package struct WatchedFiles: Sendable {
    /// A change of a file as the system tells it, with the file's name in the directory.
    package enum Change: Sendable, Hashable {
        /// A new name; it may be a hard link, of which nothing more will be heard.
        case created(String)
        case written(String)
        /// Closed after writing.
        case closed(String)
        case renamedIntoPlace(String)
        case gone(String)
    }

    /// A result for a file, with its name in the directory.
    package enum Output: Sendable, Hashable {
        /// The file is there, as far as can be told. It comes again when the file has changed.
        case complete(String)
        /// Nothing has happened to a file for ``patience`` since it was complete: what is wrong with it stays wrong.
        case quiet(String)
    }

    /// Distinguishes one state of a file from another.
    package struct Signature: Sendable, Hashable {
        /// Bytes.
        package var size: Int
        /// Seconds since 1970.
        package var modified: Double
        /// The file's inode: it differs when another file took the name.
        package var number: UInt64

        package init(size: Int, modified: Double, number: UInt64) {
            self.size = size
            self.modified = modified
            self.number = number
        }
    }

    private enum State {
        case writing
        case settling(until: ContinuousClock.Instant)
        case told(until: ContinuousClock.Instant)
    }

    /// How long a file that was closed is left alone before it counts as complete.
    package static let settleTime = Duration.milliseconds(150)
    /// How long a new name without any writing may stay so.
    package static let linkTime = Duration.seconds(1)
    /// The time without a change after which a complete file is reported as ``Output/quiet(_:)``.
    package static let patience = Duration.seconds(2)

    private var states: [String: State] = [:]
    private var known: [String: Signature]

    /// - Parameter known: The files that were there before and are none of our business until they change.
    package init(known: [String: Signature] = [:]) {
        self.known = known
    }

    /// Takes in a change. Files with temporary names are ignored.
    package mutating func take(_ change: Change, now: ContinuousClock.Instant) {
        switch change {
        case .created(let name) where !Self.isTemporary(name):
            if states[name] == nil { states[name] = .settling(until: now + Self.linkTime) }
        case .written(let name) where !Self.isTemporary(name): states[name] = .writing
        case .closed(let name) where !Self.isTemporary(name): states[name] = .settling(until: now + Self.settleTime)
        case .renamedIntoPlace(let name) where !Self.isTemporary(name): states[name] = .settling(until: now)
        case .gone(let name):
            states[name] = nil
            known[name] = nil
        default: break
        }
    }

    /// Compares the directory with what is known of it, where changes may have been missed.
    package mutating func compare(_ listing: [String: Signature], now: ContinuousClock.Instant) {
        for name in Set(known.keys).union(states.keys) where listing[name] == nil { take(.gone(name), now: now) }
        for (name, signature) in listing where known[name] != signature { take(.closed(name), now: now) }
    }

    /// Notes how a file is at the moment when it is handed out.
    package mutating func note(_ name: String, signature: Signature?) {
        known[name] = signature
    }

    /// Returns the results that are due by now, in the order in which they became due. Each is returned once.
    package mutating func due(now: ContinuousClock.Instant) -> [Output] {
        var ready: [(at: ContinuousClock.Instant, name: String, output: Output)] = []
        for (name, state) in states {
            switch state {
            case .settling(let until) where until <= now:
                ready.append((until, name, .complete(name)))
                states[name] = .told(until: now + Self.patience)
            case .told(let until) where until <= now:
                ready.append((until, name, .quiet(name)))
                states[name] = nil
            default: break
            }
        }
        return ready.sorted { ($0.at, $0.name) < ($1.at, $1.name) }.map(\.output)
    }

    /// When ``due(now:)`` has something to tell next; nil while that depends on what happens.
    package var nextDue: ContinuousClock.Instant? {
        states.values.compactMap { state in
            switch state {
            case .writing: nil
            case .settling(let until), .told(let until): until
            }
        }.min()
    }

    /// Whether programs give such names to files that are not finished: hidden ones, and endings of downloads and
    /// editors.
    package static func isTemporary(_ name: String) -> Bool {
        guard !name.utf8.starts(with: ".".utf8), name.utf8.last != UInt8(ascii: "~") else { return true }
        guard let dot = name.lastIndex(of: ".") else { return false }
        return temporaryEndings.contains(name[dot...].dropFirst().lowercased())
    }

    private static let temporaryEndings: Set<String> = [
        "crdownload", "download", "filepart", "opdownload", "part", "partial", "swp", "swx", "temp", "tmp",
    ]
}
