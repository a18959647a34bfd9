/// The history cannot be used. What commands do for a host, they do without it; only chats that are kept here alone are
/// nowhere else.
package struct HistoryError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case newer, damaged, unsafe, unavailable, exists, forgotten
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// A later version of pairtool wrote it.
        package static let newer = Code(.newer)
        /// The file is no SQLite database, or one that is damaged.
        package static let damaged = Code(.damaged)
        /// Other users may have written it.
        package static let unsafe = Code(.unsafe)
        /// It cannot be opened, read or written: no permission, a full disk.
        package static let unavailable = Code(.unavailable)
        /// A file is in the place of a backup.
        package static let exists = Code(.exists)
        /// The host was forgotten on this machine, and what its pairing says is not written down any more.
        package static let forgotten = Code(.forgotten)

        package var description: String { value.rawValue }
    }

    package let code: Code
    /// The message for people.
    package let message: String
    /// The command or act that helps, if there is one.
    package let remedy: String?
    package let underlying: (any Error)?

    package init(_ code: Code, _ message: String, remedy: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.underlying = underlying
    }

    package var description: String { message }
}
