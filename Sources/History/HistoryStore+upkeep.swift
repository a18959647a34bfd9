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
            let time = Column("createdAt") ?? Column("seenAt")
            let times = try Table("message").select(min(time).forKey("oldest"), max(time).forKey("newest"))
                .fetchOne(database)
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
            try HistoryRows.notes("taken " + hostID, "pulled " + hostID).deleteAll(database)
            return try HistoryRows.host(hostID).deleteAll(database) > 0
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
                let chats = HistoryRows.chats(ofHost: id)
                let kept = try keptChats ? [] : chats.filter(Column("isKept") == 1).keys(database)
                if kept.isEmpty {
                    try HistoryRows.host(id).deleteAll(database)
                } else {
                    try chats.filter(Column("isKept") == 0).deleteAll(database)
                }
                stayed.formUnion(kept)
                try HistoryRows.notes("pulled " + id).deleteAll(database)
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
            return try !Self.limited.isEmpty(database)
        }
        if isDue { _ = try await prune(limits, now: now) }
    }

    /// The messages that the limits may remove. A chat that is kept here alone stays whole.
    private static var limited: QueryInterfaceRequest<Row> {
        Table("message").filter(
            !Table("chat").filter(Column("isKept") == 1).select(Column("key")).contains(Column("chat"))
        )
    }

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
        var removed = try await remove(Table("message").filter(sql: "chat IN (\(goneChats))"))
        var removedChats = 0
        if let age = limits.age {
            let end = now.addingTimeInterval(-age).milliseconds
            removed += try await remove(Self.limited.filter((Column("createdAt") ?? Column("seenAt")) < end))
            // Chats that were last changed before, and whose messages are gone with that.
            let emptyChats = """
                SELECT key FROM chat WHERE updatedAt < \(end) AND isKept = 0
                    AND NOT EXISTS (SELECT 1 FROM message WHERE message.chat = chat.key)
                """
            removedChats += try await remove(chats: emptyChats)
        }
        // The chats first: without its project, a chat counts as one whose project was never listed.
        removedChats += try await remove(chats: goneChats)
        _ = try await write { try Table("project").filter(Column("goneAt") < gone).deleteAll($0) }
        if removed + removedChats > 0 { try await shrink() }
        // The texts of a message say how much goes with it only roughly: removed in steps, a few at most. Their words
        // are in the indices until these are made smaller.
        for _ in 0..<20 {
            let (size, count) = try await read { database in
                (try Self.size(database), try Self.limited.fetchCount(database))
            }
            guard size > limits.size, count > 0 else { break }
            let excess = Double(size) - 0.9 * Double(limits.size)
            let part = max(1, Int(Double(count) * min(1, excess / Double(size))))
            removed += try await remove(Self.limited.limit(part))
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

    /// Removes messages, in short transactions: up to the limit of the request, the oldest.
    private func remove(_ messages: QueryInterfaceRequest<Row>) async throws(HistoryError) -> Int {
        let keys = try await read { database in
            try messages.order(Column("createdAt") ?? Column("seenAt"), Column("key")).keys(database)
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
        func number(_ pragma: String) throws -> Int { try Int.fetchOne(database, sql: "PRAGMA \(pragma)") ?? 0 }
        return try (number("page_count") - number("freelist_count")) * number("page_size")
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
