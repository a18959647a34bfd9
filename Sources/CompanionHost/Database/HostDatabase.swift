import CompanionWire
import FoundationEssentials
import GRDB
import Glibc
import LocalState
import NIOConcurrencyHelpers

/// The host's SQLite database (WAL): directory mode 0700, file mode 0600, one host at a time.
///
/// SQLite works on the queues of GRDB's pool, never on an event loop or a thread of the cooperative pool.
final class HostDatabase: Sendable {
    /// Closes itself. No `deinit` here may close it: the last reference may go on one of its own queues, which would
    /// wait for itself.
    private let pool: DatabasePool
    /// Held until the database is closed.
    private let lock: NIOLockedValueBox<FileLock?>

    init(path: String) throws(CompanionHostError) {
        let directory = path.cut(atLast: "/").map { String($0.before) } ?? "."
        do {
            try PrivateFile.makeDirectory(directory)
        } catch {
            throw CompanionHostError(
                .databaseUnavailable,
                "The directory \(directory) cannot be made.",
                underlying: error
            )
        }
        let lock = try Self.lock(path: path)
        let pool: DatabasePool
        do {
            pool = try Self.open(path: path)
            try Self.migrator.migrate(pool)
        } catch {
            throw Self.unopened(path: path, error: error)
        }
        self.pool = pool
        self.lock = NIOLockedValueBox(lock)
    }

    private static func unopened(path: String, error: any Error) -> CompanionHostError {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            CompanionHostError(
                .databaseDamaged,
                "The host's database \(path) is damaged.",
                remedy: "move it away, with its -wal and -shm if they are beside it; then restore it from a backup, or "
                    + "pair every device again: mv '\(path)' '\(path).damaged'",
                underlying: error
            )
        default:
            CompanionHostError(
                .databaseUnavailable,
                "The host's database \(path) cannot be opened.",
                underlying: error
            )
        }
    }

    /// Closes the database and lets another host work on it. Twice is no error; reads and writes fail from now on.
    func close() {
        guard lock.withLockedValue({ $0 }) != nil else { return }
        try? pool.close()
        lock.withLockedValue { $0 = nil }
    }

    private static func lock(path: String) throws(CompanionHostError) -> FileLock {
        let lock: FileLock?
        do {
            lock = try FileLock.take(ifFree: path + ".lock")
        } catch {
            throw CompanionHostError(
                .databaseUnavailable,
                "The file \(path).lock cannot be opened: \(error.reason)."
            )
        }
        guard let lock else {
            throw CompanionHostError(
                .databaseInUse,
                "Another host is using \(path). End it, or give this one a database of its own."
            )
        }
        return lock
    }

    private static func open(path: String) throws -> DatabasePool {
        // Made here, so that it is never readable by others; SQLite gives its side files the same mode.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            fchmod(descriptor, 0o600)
            Glibc.close(descriptor)
        }
        var configuration = Configuration()
        configuration.label = "pairtool-host"
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 4
        configuration.prepareDatabase { database in
            // With WAL, a crash of this process loses nothing and a power cut at most the last messages. What must not
            // be lost by that either is written durably.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        return try DatabasePool(path: path, configuration: configuration)
    }

    /// Reads from a snapshot.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(CompanionHostError) -> Value {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                pool.asyncRead { database in
                    continuation.resume(with: Result { try body(database.get()) })
                }
            }
        } catch {
            throw Self.unreadable(error)
        }
    }

    /// Reads outside of a transaction: each statement sees the database as it is when it begins. A short read takes
    /// less than half as many statements so.
    func readEach<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(CompanionHostError) -> Value {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                pool.asyncUnsafeRead { database in
                    continuation.resume(with: Result { try body(database.get()) })
                }
            }
        } catch {
            throw Self.unreadable(error)
        }
    }

    private static func unreadable(_ error: any Error) -> CompanionHostError {
        CompanionHostError(.databaseUnavailable, "The host's database cannot be read.", underlying: error)
    }

    /// Reads like ``read(_:)``, but passes on the errors of the body unchanged.
    func readChecked<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await read(body)
        } catch {
            throw error.underlying as? HostError ?? error
        }
    }

    /// Runs a transaction. Cancelling the calling task does not affect it.
    ///
    /// - Parameters:
    ///   - durably: Whether the disk has it, and all before it, when this returns: no power cut takes it back. For
    ///     whatever takes access away, counts guesses, is audited or was asked for by a signed command.
    ///   - committed: Called after the commit and before the next transaction, on the writer's queue.
    /// - Throws: ``CompanionHostError/Code/notStored``; nothing of the transaction is stored then.
    func write<Value: Sendable>(
        durably: Bool = false,
        _ body: @escaping @Sendable (Database) throws -> Value,
        committed: @escaping @Sendable (Value) -> Void = { _ in }
    ) async throws(CompanionHostError) -> Value {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                pool.asyncWriteWithoutTransaction { database in
                    let result = Result {
                        var value: Value?
                        // SQLite takes this between transactions only.
                        if durably { try database.execute(sql: "PRAGMA synchronous = FULL") }
                        defer { if durably { try? database.execute(sql: "PRAGMA synchronous = NORMAL") } }
                        try database.inTransaction(.immediate) {
                            value = try body(database)
                            return .commit
                        }
                        guard let value else { throw CompanionHostError(.notStored, "The transaction did not run.") }
                        return value
                    }
                    if case .success(let value) = result { committed(value) }
                    continuation.resume(with: result)
                }
            }
        } catch {
            throw CompanionHostError(.notStored, "The host's database cannot be written.", underlying: error)
        }
    }

    /// Runs a transaction like ``write(_:committed:)``, but passes on the errors of the body unchanged.
    func writeChecked<Value: Sendable>(
        durably: Bool = false,
        _ body: @escaping @Sendable (Database) throws -> Value,
        committed: @escaping @Sendable (Value) -> Void = { _ in }
    ) async throws -> Value {
        do {
            return try await write(durably: durably, body, committed: committed)
        } catch {
            throw error.underlying as? HostError ?? error
        }
    }

    /// Runs a transaction when those before it are done, without a task that waits for it.
    ///
    /// - Parameter completion: Called on the writer's queue, after the commit and before the next transaction.
    func enqueueWrite(
        _ body: @escaping @Sendable (Database) throws -> Void,
        completion: @escaping @Sendable (Result<Void, CompanionHostError>) -> Void
    ) {
        pool.asyncWriteWithoutTransaction { database in
            do {
                try database.inTransaction(.immediate) {
                    try body(database)
                    return .commit
                }
                completion(.success(()))
            } catch {
                let text = "The host's database cannot be written."
                completion(.failure(CompanionHostError(.notStored, text, underlying: error)))
            }
        }
    }

    /// Runs a transaction while the host starts, before anything else works on the database.
    func writeBlocking<Value>(_ body: (Database) throws -> Value) throws(CompanionHostError) -> Value {
        do {
            return try pool.write(body)
        } catch {
            throw CompanionHostError(.databaseUnavailable, "The host's database cannot be written.", underlying: error)
        }
    }
}
