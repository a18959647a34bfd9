/// Why a host could not start or do its work.
package struct CompanionHostError: Error, Sendable {
    /// The kind of a failure.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String, Sendable {
            case invalidProject = "invalid_project"
            case databaseUnavailable = "database_unavailable"
            case databaseDamaged = "database_damaged"
            case databaseInUse = "database_in_use"
            case agentNotFound = "agent_not_found"
            case portInUse = "port_in_use"
            case cannotListen = "cannot_listen"
            case keyUnusable = "key_unusable"
            case notStored = "not_stored"
        }

        private let value: Value

        private init(_ value: Value) {
            self.value = value
        }

        /// A project is not an absolute path of a directory that exists.
        package static let invalidProject = Code(.invalidProject)
        /// The database could not be opened, read or written.
        package static let databaseUnavailable = Code(.databaseUnavailable)
        /// A running host could not write to its database: the disk may be full. Nothing of the change is stored.
        package static let notStored = Code(.notStored)
        /// The file is no database, or is one that was damaged.
        package static let databaseDamaged = Code(.databaseDamaged)
        /// Another host works on the same database.
        package static let databaseInUse = Code(.databaseInUse)
        /// The agent's command does not exist or may not be run.
        package static let agentNotFound = Code(.agentNotFound)
        /// Another program listens on the port.
        package static let portInUse = Code(.portInUse)
        /// The address could not be listened on for another reason.
        package static let cannotListen = Code(.cannotListen)
        /// The host's key or its TLS certificate is damaged, open to others, or could not be made.
        package static let keyUnusable = Code(.keyUnusable)

        /// The code as a word of JSON, such as `port_in_use`.
        package var description: String { value.rawValue }
    }

    package var code: Code
    /// A message for people: what went wrong.
    package var message: String
    /// How to fix it, for people; nil where that follows from the code alone.
    package var remedy: String?
    /// The error that caused this one, such as that of SQLite; nil for none.
    package var underlying: (any Error)?
    /// The file of the source code that made the error. Default: that of the caller.
    package var file: String
    /// The line in ``file``.
    package var line: Int

    package init(
        _ code: Code,
        _ message: String,
        remedy: String? = nil,
        underlying: (any Error)? = nil,
        file: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.underlying = underlying
        self.file = file
        self.line = line
    }
}

extension CompanionHostError: CustomStringConvertible {
    /// The message, with the underlying error in parentheses.
    package var description: String {
        underlying.map { "\(message) (\($0))" } ?? message
    }
}
