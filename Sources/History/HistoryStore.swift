import FoundationEssentials
import GRDB
import Glibc
import LocalState

/// The history: hosts, projects, chats, messages and tools of all families that were listed, read or written, in one
/// SQLite database (WAL) that only its owner can read.
///
/// Several processes use it at a time. Each transaction is short, and a writer waits up to ``patience`` for another.
/// SQLite works on GRDB's queue, never on a thread of the cooperative pool; ``open(path:)`` and ``close()`` keep to that
/// too.
package final class HistoryStore: Sendable {
    /// How long a write waits for the writes of other processes, in seconds.
    static let patience = 10.0

    package let path: String
    let queue: DatabaseQueue

    /// Opens the database, and creates it if it is missing. Blocks, up to ``patience`` if another process is writing.
    ///
    /// - Parameter path: Its directory is created with mode 0700 if it is missing.
    /// - Throws: ``HistoryError``.
    package init(path: String) throws(HistoryError) {
        self.path = path
        try Self.prepareFiles(path)
        do {
            queue = try Self.queue(path)
            try queue.writeWithoutTransaction { try HistorySchema.prepare($0) }
        } catch {
            throw Self.failure(error, path: path, what: "cannot be opened")
        }
    }

    /// Opens the database as ``init(path:)`` does, without blocking the thread.
    package static func open(path: String) async throws(HistoryError) -> HistoryStore {
        do {
            return try await BlockingCall.run { try HistoryStore(path: path) }
        } catch {
            throw failure(error, path: path, what: "cannot be opened")
        }
    }

    /// The database's path in the tool's state directory.
    package static func path(state: String) -> String { "\(state)/history.db" }

    private static func queue(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "pairtool-history"
        configuration.busyMode = .timeout(patience)
        configuration.journalMode = .wal
        configuration.prepareDatabase { database in
            // With WAL, the end of this process loses nothing, and a power cut at most the last writes. Pages that
            // become free are overwritten: what is deleted is not to be read from the file.
            // The last one counts as long as the database is empty.
            try database.execute(
                sql: "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA auto_vacuum = INCREMENTAL"
            )
        }
        // Of several that make a new database, one turns WAL on, and for that SQLite does not let the others wait.
        let giveUp = ContinuousClock.now + .seconds(patience)
        while true {
            do {
                return try DatabaseQueue(path: path, configuration: configuration)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && .now < giveUp {
                usleep(2000)
            }
        }
    }

    /// Makes the directory and the file, and sees to it that nobody else can write or read them.
    private static func prepareFiles(_ path: String) throws(HistoryError) {
        let directory = PrivateFile.directory(of: path)
        do {
            try PrivateFile.makeDirectory(directory)
            try requireOwn(directory, kind: .directory, mode: 0o700)
            if FileStatus(path, followingLinks: false) == nil {
                // Made here, so that it is never readable by others; SQLite gives its side files the same mode.
                try PrivateFile.write(UnsafeRawBufferPointer(start: nil, count: 0), to: path, replacing: false)
            }
            for file in [path, path + "-wal", path + "-shm"] where FileStatus(file, followingLinks: false) != nil {
                try requireOwn(file, kind: .file, mode: 0o600)
            }
        } catch let error as HistoryError {
            throw error
        } catch {
            throw HistoryError(.unavailable, "the history cannot be opened: \(error)", underlying: error)
        }
    }

    private static func requireOwn(_ path: String, kind: FileStatus.Kind, mode: UInt32) throws {
        guard let status = FileStatus(path, followingLinks: kind == .directory) else {
            throw HistoryError(.unavailable, "the history cannot be opened: \(path) is not there")
        }
        guard status.kind == kind else {
            throw HistoryError(.unsafe, "the history is not used: \(path) is not a \(kind)")
        }
        guard status.owner == geteuid() else {
            throw HistoryError(.unsafe, "the history is not used: \(path) belongs to another user")
        }
        guard status.permissions & 0o022 == 0 else {
            throw HistoryError(
                .unsafe,
                "the history is not used: other users can change \(path)",
                remedy: "if nobody else has changed it: chmod go-rwx '\(path)'"
            )
        }
        if status.permissions & 0o077 != 0 { chmod(path, mode) }
    }

    static func failure(_ error: any Error, path: String, what: String) -> HistoryError {
        if let error = error as? HistoryError { return error }
        let database = error as? DatabaseError
        switch database?.resultCode {
        case .SQLITE_NOTADB?, .SQLITE_CORRUPT?:
            return HistoryError(
                .damaged,
                "the history \(path) is damaged",
                remedy: "to start with an empty one: pairtool history clear",
                underlying: error
            )
        default:
            let reason = database.map { $0.message ?? "SQLite error \($0.resultCode.rawValue)" } ?? "\(error)"
            return HistoryError(.unavailable, "the history \(what): \(reason)", underlying: error)
        }
    }

    /// Closes the database without blocking the thread. Errors are ignored.
    package func close() async {
        try? await BlockingCall.run { self.closeBlocking() }
    }

    /// Closes the database on the calling thread. Errors are ignored.
    package func closeBlocking() {
        try? queue.close()
    }
}

// MARK: Transactions

extension HistoryStore {
    /// Reads from a snapshot.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(HistoryError) -> Value {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                queue.asyncRead { database in
                    continuation.resume(with: Result { try body(database.get()) })
                }
            }
        } catch {
            throw Self.failure(error, path: path, what: "cannot be read")
        }
    }

    /// Runs a transaction. Cancelling the calling task does not affect it.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(HistoryError) -> Value {
        try await writeWithoutTransaction { database in
            var value: Value?
            try database.inTransaction(.immediate) {
                value = try body(database)
                return .commit
            }
            guard let value else { throw HistoryError(.unavailable, "the history cannot be written") }
            return value
        }
    }

    func writeWithoutTransaction<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(HistoryError) -> Value {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                queue.asyncWriteWithoutTransaction { database in
                    continuation.resume(with: Result { try body(database) })
                }
            }
        } catch {
            throw Self.failure(error, path: path, what: "cannot be written")
        }
    }
}

// MARK: Notes

extension HistoryStore {
    /// A number that is stored under a name.
    static func note(_ name: String, in database: Database) throws -> Int64? {
        try HistoryRows.notes(name).select(Column("value"), as: Int64.self).fetchOne(database)
    }

    static func setNote(_ name: String, to value: Int64, in database: Database) throws {
        try database.execute(
            sql: "INSERT INTO note (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            arguments: [name, value]
        )
    }
}

// MARK: Values

/// Times are stored as milliseconds since 1970.
extension Date {
    var milliseconds: Int64 {
        let value = (timeIntervalSince1970 * 1000).rounded()
        // What a host says may be any number.
        return value.isFinite ? Int64(max(-1e15, min(1e15, value))) : 0
    }

    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

extension Row {
    func date(_ column: String) -> Date? {
        (self[column] as Int64?).map(Date.init(milliseconds:))
    }
}

extension String {
    /// The text as SQLite can store it: NUL, which would end it, becomes U+FFFD.
    var storable: String {
        guard utf8.contains(0) else { return self }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 })
        return String(text)
    }
}
