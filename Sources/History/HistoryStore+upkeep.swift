package import FoundationEssentials
import GRDB
import Glibc
import LocalState

/// How much is kept, and how long.
package struct HistoryLimits: Sendable, Hashable {
    /// In seconds; nil for no limit.
    package var age: Double?
    /// In bytes: the whole database.
    package var size: Int

    /// Without a choice of the user.
    package static let usualSize = 1_000_000_000

    package init(age: Double? = nil, size: Int = usualSize) {
        (self.age, self.size) = (age, size)
    }
}

/// The number of entries in the database, and its size.
package struct HistoryStatus: Sendable, Hashable {
    package var hosts: Int
    package var projects: Int
    package var chats: Int
    package var messages: Int
    package var tools: Int
    /// Those of the chats that are kept here alone.
    package var keptChats: Int
    /// In bytes, with what waits in the log.
    package var size: Int
    /// The times of the oldest and the newest message.
    package var oldest: Date?
    package var newest: Date?
}

extension HistoryStore {
    /// Counts the entries and measures the files.
    package func status() async throws(HistoryError) -> HistoryStatus {
        let size = [path, path + "-wal"].compactMap { FileStatus($0)?.size }.reduce(0, +)
        return try await read { database in
            func count(_ table: String) throws -> Int {
                try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
            }
            let times = try Row.fetchOne(
                database,
                sql: "SELECT min(ifnull(createdAt, seenAt)) AS oldest, max(ifnull(createdAt, seenAt)) AS newest"
                    + " FROM message"
            )
            return HistoryStatus(
                hosts: try count("host"),
                projects: try count("project WHERE goneAt IS NULL"),
                chats: try count("chat WHERE \(Self.isListed)"),
                messages: try count("message"),
                tools: try count("tool"),
                keptChats: try count("chat WHERE isKept = 1"),
                size: size,
                oldest: times?.date("oldest"),
                newest: times?.date("newest")
            )
        }
    }

    /// Removes everything about a host.
    ///
    /// - Parameter pairedAt: When the host was paired. Nothing of that pairing is taken any more, whichever process is
    ///   still connected to it; a later pairing of the same host is not affected.
    package func forget(hostID: String, pairedAt: Date? = nil) async throws(HistoryError) {
        let isKnown = try await write { database in
            if let pairedAt { try Self.setNote("forgotten " + hostID, to: pairedAt.milliseconds, in: database) }
            try database.execute(
                sql: "DELETE FROM note WHERE name IN (?, ?)",
                arguments: ["taken " + hostID, "pulled " + hostID]
            )
            try database.execute(sql: "DELETE FROM host WHERE id = ?", arguments: [hostID])
            return database.changesCount > 0
        }
        if isKnown { try await shrink() }
    }

    /// Removes what is kept of some hosts. What was pulled is taken again with the next pull.
    ///
    /// - Parameter keptChats: Whether chats that are kept here alone are removed too. Default: they stay.
    /// - Returns: How many of those have stayed.
    @discardableResult
    package func clear(
        hostIDs: [String],
        keptChats: Bool = false
    ) async throws(HistoryError) -> Int {
        let stayed = try await write { database in
            var stayed: Set<Int64> = []
            for id in hostIDs {
                let kept = try Int64.fetchAll(
                    database,
                    sql: """
                        SELECT chat.key FROM chat JOIN host ON host.key = chat.host
                        WHERE host.id = ? AND chat.isKept > ?
                        """,
                    arguments: [id, keptChats]
                )
                if kept.isEmpty {
                    try database.execute(sql: "DELETE FROM host WHERE id = ?", arguments: [id])
                } else {
                    try database.execute(
                        sql: "DELETE FROM chat WHERE isKept = 0 AND host = (SELECT key FROM host WHERE id = ?)",
                        arguments: [id]
                    )
                }
                stayed.formUnion(kept)
                try database.execute(sql: "DELETE FROM note WHERE name = ?", arguments: ["pulled " + id])
            }
            return stayed.count
        }
        try await shrink()
        return stayed
    }

    /// Moves the files of a history that cannot be opened away, beside those that were moved before.
    ///
    /// - Returns: Where the database is now: its path with `.damaged`, `.damaged-2` and so on.
    package static func moveFilesAway(_ path: String) throws(HistoryError) -> String {
        var (moved, number) = (path + ".damaged", 1)
        while true {
            let descriptor = Glibc.open(moved, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor >= 0 {
                Glibc.close(descriptor)
                break
            }
            guard errno == EEXIST else {
                throw HistoryError(.unavailable, "\(moved) cannot be written: \(PrivateFile.systemMessage())")
            }
            number += 1
            moved = "\(path).damaged-\(number)"
        }
        // The log first: beside a new database, it would be written into that.
        for ending in ["-wal", "-shm", ""] {
            guard rename(path + ending, moved + ending) != 0 else { continue }
            guard errno == ENOENT else {
                let reason = PrivateFile.systemMessage()
                unlink(moved)
                throw HistoryError(.unavailable, "\(path + ending) cannot be moved: \(reason)")
            }
            // Not of the database that is moved.
            unlink(moved + ending)
        }
        return moved
    }

    /// Removes the files of a history that cannot be opened.
    package static func removeFiles(_ path: String) throws(HistoryError) {
        for file in [path, path + "-wal", path + "-shm"] where unlink(file) != 0 && errno != ENOENT {
            throw HistoryError(.unavailable, "\(file) cannot be removed: \(PrivateFile.systemMessage())")
        }
    }

    // MARK: Limits

    /// The hosts' lists may lack something for a moment only, so it stays for this long: in seconds.
    static let grace = 24 * 3600.0
    /// How many messages a transaction removes at most.
    private static let chunk = 2000

    /// Keeps the limits: at most once an hour, unless the database is too large.
    package func pruneIfDue(_ limits: HistoryLimits, now: Date) async throws(HistoryError) {
        let isDue = try await read { database in
            guard let last = try Self.note("prunedAt", in: database),
                abs(now.timeIntervalSince(Date(milliseconds: last))) < 3600
            else { return true }
            guard try Self.size(database) > limits.size else { return false }
            let sql = "SELECT EXISTS (SELECT 1 FROM message WHERE \(Self.isLimited))"
            return try Bool.fetchOne(database, sql: sql) ?? false
        }
        if isDue { _ = try await prune(limits, now: now) }
    }

    /// A condition: whether the limits may remove a message. A chat that is kept here alone stays whole.
    private static let isLimited = "chat NOT IN (SELECT chat.key FROM chat WHERE chat.isKept = 1)"

    /// Removes what is older than the limit, and what was deleted at the host; then the oldest messages until the
    /// database is at most nine tenths of its largest size. Chats that are kept here alone stay.
    ///
    /// - Returns: The number of messages that were removed.
    package func prune(_ limits: HistoryLimits, now: Date) async throws(HistoryError) -> Int {
        let gone = now.addingTimeInterval(-Self.grace).milliseconds
        // Chats that were pulled as a whole are the host's, whatever becomes of their projects here.
        let goneChats = """
            SELECT key FROM chat WHERE isKept = 0 AND (goneAt < \(gone) OR participants IS NULL AND EXISTS (
                SELECT 1 FROM project WHERE project.host = chat.host AND project.id = chat.project
                AND project.goneAt < \(gone)
            ))
            """
        var removed = try await remove("chat IN (\(goneChats))", limit: -1)
        var removedChats = 0
        if let age = limits.age {
            let end = now.addingTimeInterval(-age).milliseconds
            removed += try await remove("ifnull(createdAt, seenAt) < \(end) AND \(Self.isLimited)", limit: -1)
            // Chats that were last changed before, and whose messages are gone with that.
            let emptyChats = """
                SELECT key FROM chat WHERE updatedAt < \(end) AND isKept = 0
                    AND NOT EXISTS (SELECT 1 FROM message WHERE message.chat = chat.key)
                """
            removedChats += try await remove(chats: emptyChats)
        }
        // The chats first: without its project, a chat counts as one whose project was never listed.
        removedChats += try await remove(chats: goneChats)
        try await write { database in try database.execute(sql: "DELETE FROM project WHERE goneAt < \(gone)") }
        if removed + removedChats > 0 { try await shrink() }
        // The texts of a message say how much goes with it only roughly: removed in steps, a few at most. Their words
        // are in the indices until these are made smaller.
        for _ in 0..<20 {
            let (size, count) = try await read { database in
                let sql = "SELECT count(*) FROM message WHERE \(Self.isLimited)"
                return (try Self.size(database), try Int.fetchOne(database, sql: sql) ?? 0)
            }
            guard size > limits.size, count > 0 else { break }
            let excess = Double(size) - 0.9 * Double(limits.size)
            let part = max(1, Int(Double(count) * min(1, excess / Double(size))))
            removed += try await remove(Self.isLimited, limit: part)
            try await shrink()
        }
        try await write { database in try Self.setNote("prunedAt", to: now.milliseconds, in: database) }
        return removed
    }

    /// Before something of chats is removed: what was pulled of their hosts is not whole any more then, and the next
    /// pull is taken, whatever it has.
    ///
    /// - Parameter chats: A query for their keys.
    private static func removePulledMarks(ofChats chats: String, in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM note WHERE name IN (
                    SELECT 'pulled ' || host.id FROM host JOIN chat ON chat.host = host.key WHERE chat.key IN (\(chats))
                )
                """
        )
    }

    /// Removes chats.
    ///
    /// - Parameter chats: A query for their keys.
    private func remove(chats: String) async throws(HistoryError) -> Int {
        try await write { database in
            try Self.removePulledMarks(ofChats: chats, in: database)
            try database.execute(sql: "DELETE FROM chat WHERE key IN (\(chats))")
            return database.changesCount
        }
    }

    /// Removes the oldest of the messages that meet a condition, in short transactions.
    private func remove(_ condition: String, limit: Int) async throws(HistoryError) -> Int {
        let keys = try await read { database in
            try Int64.fetchAll(
                database,
                sql: "SELECT key FROM message WHERE \(condition) ORDER BY ifnull(createdAt, seenAt), key LIMIT \(limit)"
            )
        }
        for start in stride(from: 0, to: keys.count, by: Self.chunk) {
            let part = keys[start..<min(start + Self.chunk, keys.count)].map(String.init).joined(separator: ",")
            try await write { database in
                let chats = "SELECT message.chat FROM message WHERE message.key IN (\(part))"
                try Self.removePulledMarks(ofChats: chats, in: database)
                try database.execute(sql: "DELETE FROM message WHERE key IN (\(part))")
            }
        }
        return keys.count
    }

    /// Returns the size of the pages that are in use, in bytes.
    private static func size(_ database: Database) throws -> Int {
        let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        return (pages - free) * (try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4096)
    }

    /// Takes the words of removed texts out of the indices, and the space out of the file.
    private func shrink() async throws(HistoryError) {
        try await write { database in
            for table in ["message", "tool", "chat"] {
                try database.execute(sql: "INSERT INTO \(table)Text (\(table)Text) VALUES ('optimize')")
            }
        }
        try await release()
    }

    /// Gives free pages back to the file system.
    private func release() async throws(HistoryError) {
        try await writeWithoutTransaction { database in
            _ = try Row.fetchAll(database, sql: "PRAGMA incremental_vacuum")
            // Others may be reading: then one of them does it later.
            _ = try? Row.fetchAll(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    // MARK: Backup

    /// Copies the database, as it is at one moment, to a file that only its owner may read.
    ///
    /// - Throws: ``HistoryError/Code/exists`` if something is at the path.
    package func backUp(to destination: String) async throws(HistoryError) {
        let descriptor = Glibc.open(destination, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let reason = PrivateFile.systemMessage()
            guard errno != EEXIST else {
                throw HistoryError(.exists, "\(destination) exists; nothing was written", remedy: "name another file")
            }
            throw HistoryError(.unavailable, "\(destination) cannot be written: \(reason)")
        }
        Glibc.close(descriptor)
        do {
            try await writeWithoutTransaction { database in
                var configuration = Configuration()
                configuration.journalMode = .default
                let copy = try DatabaseQueue(path: destination, configuration: configuration)
                defer { try? copy.close() }
                try copy.writeWithoutTransaction { try database.backup(to: $0) }
            }
        } catch {
            unlink(destination)
            throw error
        }
    }
}
