import CompanionWire
package import FoundationEssentials
import GRDB
import LocalState

extension HistoryStore {
    /// What an import has added. What was there before stays as it is.
    package struct Imported: Sendable, Hashable {
        package var chats = 0
        package var messages = 0
        /// Messages that were there before.
        package var known = 0
    }

    /// The most lines, and about the most bytes of text, that are written in one transaction: others wait for it.
    private static let linesAtOnce = 500
    private static let bytesAtOnce = 1 << 20

    /// Adds the lines of an archive. They are all checked before the first is written. Then they are written in short
    /// transactions, so that other processes can write in between.
    ///
    /// - Parameter open: Begins to read the archive; called twice. It and what it returns may block.
    /// - Throws: ``HistoryError/Code/badArchive`` for lines in the wrong order or without what they need, with nothing
    ///   imported. Other ``HistoryError``s, which say what was imported before. What reading throws.
    package func importArchive(
        at now: Date,
        _ open: @escaping @Sendable () throws -> HistoryArchive.Reader
    ) async throws -> Imported {
        try await BlockingCall.run {
            var check = ArchiveCheck()
            let next = try open()
            while let line = try next() { try check.take(line) }
            try check.end()
        }
        let reading = try await BlockingCall.run { ArchiveReading(try open()) }
        var writer = ArchiveImport(now: now.milliseconds)
        do {
            while true {
                let lines = try await BlockingCall.run { try reading.next(Self.linesAtOnce, bytes: Self.bytesAtOnce) }
                guard !lines.isEmpty else { return writer.imported }
                let before = writer
                writer = try await write { database in
                    var writer = before
                    try writer.take(lines, database)
                    return writer
                }
            }
        } catch let error as HistoryError {
            guard writer.imported.messages > 0 else { throw error }
            throw HistoryError(
                error.code,
                "\(error.message); \(writer.imported.messages) messages were imported before",
                remedy: error.remedy ?? "import the file again: what was imported is left alone",
                underlying: error
            )
        }
    }
}

/// Takes lines in portions.
private final class ArchiveReading: @unchecked Sendable {
    // Safe because: one portion is read after the other.
    private let read: HistoryArchive.Reader
    /// The line after the last portion.
    private var ahead: HistoryArchive.Line?

    init(_ read: @escaping HistoryArchive.Reader) {
        self.read = read
    }

    func next(_ count: Int, bytes: Int) throws -> [HistoryArchive.Line] {
        var (portion, size) = ([HistoryArchive.Line](), 0)
        while let line = try ahead ?? read() {
            ahead = nil
            if portion.count >= count || size >= bytes {
                ahead = line
                break
            }
            size += [line.text, line.detail, line.picture].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
            portion.append(line)
        }
        return portion
    }
}

/// Checks the lines of an archive: a value without a database.
private struct ArchiveCheck {
    private var number = 0
    private var (hasHost, hasChat, hasMessage) = (false, false, false)

    mutating func take(_ line: HistoryArchive.Line) throws(HistoryError) {
        number += 1
        guard number > 1 else { return try takeFirst(line) }
        switch line.type {
        case .archive: throw bad("begins another archive")
        case .host:
            guard line.family != nil else { throw bad("names no family of hosts") }
            (hasHost, hasChat, hasMessage) = (true, false, false)
        case .project: guard hasHost else { throw bad("has a project without a host") }
        case .chat:
            guard hasHost else { throw bad("has a chat without a host") }
            (hasChat, hasMessage) = (true, false)
        case .message:
            guard hasChat else { throw bad("has a message without a chat") }
            guard line.text != nil, line.role != nil else { throw bad("has a message without a text or role") }
            hasMessage = true
        case .tool:
            guard hasMessage else { throw bad("has a tool without a message") }
            // The name stands for a missing id.
            return
        }
        guard let id = line.id, !id.isEmpty, id.utf8.count <= 1024, id.isStorable else {
            throw bad("has no usable id")
        }
    }

    func end() throws(HistoryError) {
        guard number > 0 else { throw Self.foreign }
    }

    private func takeFirst(_ line: HistoryArchive.Line) throws(HistoryError) {
        guard line.type == .archive, let version = line.version else { throw Self.foreign }
        guard version <= HistoryArchive.version, version > 0 else {
            throw HistoryError(
                .badArchive,
                "it was exported by a later pairtool (version \(version) of the format; this one knows \(HistoryArchive.version)); nothing was imported",
                remedy: "update pairtool"
            )
        }
    }

    private static let foreign = HistoryError(
        .badArchive,
        "this is not what pairtool exports; nothing was imported",
        remedy: "export it as JSON: pairtool export --all --format json -o FILE"
    )

    private func bad(_ why: String) -> HistoryError {
        HistoryError(.badArchive, "line \(number) of the file \(why); nothing was imported")
    }
}

/// Writes the lines of an archive, portion by portion.
private struct ArchiveImport: Sendable {
    var imported = HistoryStore.Imported()
    private let now: Int64
    /// When the archive was exported.
    private var exportedAt: Int64
    /// What the next lines belong to. Others may have removed it since the last portion, so it is made sure of again.
    private var hostLine: HistoryArchive.Line?
    private var chatLine: HistoryArchive.Line?
    private var (host, chat): (Int64, Int64) = (0, 0)
    /// How many projects and chats the host has.
    private var (projects, chats) = (0, 0)
    private var message: (key: Int64, isNew: Bool) = (0, false)

    init(now: Int64) {
        (self.now, exportedAt) = (now, now)
    }

    mutating func take(_ lines: [HistoryArchive.Line], _ database: Database) throws {
        if let hostLine { try takeHost(hostLine, database) }
        if let chatLine { try takeChat(chatLine, database) }
        for line in lines {
            switch line.type {
            case .archive: exportedAt = min(now, line.exportedAt?.milliseconds ?? now)
            case .host:
                (hostLine, chatLine) = (line, nil)
                try takeHost(line, database)
            case .project: try takeProject(line, database)
            case .chat:
                chatLine = line
                imported.chats += try takeChat(line, database) ? 1 : 0
            case .message: try takeMessage(line, database)
            case .tool: try takeTool(line, database)
            }
        }
    }

    private mutating func takeHost(_ line: HistoryArchive.Line, _ database: Database) throws {
        guard let id = line.id, let family = line.family else { return }
        // The name that the user gave the host here stays.
        let known = try Int64.fetchOne(database, sql: "SELECT key FROM host WHERE id = ?", arguments: [id])
        host = try known ?? HistoryStore.key(of: .init(id: id, name: line.name ?? id, family: family), in: database)
        projects = try count("project", database)
        chats = try count("chat", database)
    }

    private func count(_ table: String, _ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table) WHERE host = ?", arguments: [host]) ?? 0
    }

    private mutating func takeProject(_ line: HistoryArchive.Line, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO project (host, id, name, path, updatedAt, position, listedAt)
                VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
            arguments: [
                host, line.id, (line.name ?? "").storable, (line.localPath ?? "").storable,
                line.lastUpdatedAt?.milliseconds, projects, exportedAt,
            ]
        )
        projects += database.changesCount
        // Without a list of the host's own, this is the list.
        try database.execute(
            sql: "UPDATE host SET listedAt = ifnull(listedAt, ?) WHERE key = ?",
            arguments: [exportedAt, host]
        )
    }

    /// - Returns: Whether the chat is new.
    @discardableResult
    private mutating func takeChat(_ line: HistoryArchive.Line, _ database: Database) throws -> Bool {
        try database.execute(
            sql: """
                INSERT INTO chat (host, id, project, title, updatedAt, position, participants, createdAt)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
            arguments: [
                host, line.id, line.projectId ?? "", (line.title ?? "").storable, line.lastUpdatedAt?.milliseconds,
                chats, line.participants.map(KeptChat.stored), line.createdAt?.milliseconds,
            ]
        )
        let isNew = database.changesCount > 0
        if isNew { chats += 1 }
        chat =
            try Int64.fetchOne(
                database,
                sql: "SELECT key FROM chat WHERE host = ? AND id = ?",
                arguments: [host, line.id]
            ) ?? 0
        if !isNew {
            try database.execute(
                sql: """
                    UPDATE chat SET participants = ifnull(participants, ?), createdAt = ifnull(createdAt, ?)
                    WHERE key = ?
                    """,
                arguments: [line.participants.map(KeptChat.stored), line.createdAt?.milliseconds, chat]
            )
        }
        // One that was listed here and never read is read with this.
        if let readAt = line.readAt { try setRead(readAt.milliseconds, database) }
        return isNew
    }

    private func setRead(_ time: Int64, _ database: Database) throws {
        try database.cachedStatement(sql: "UPDATE chat SET readAt = ? WHERE key = ? AND readAt IS NULL")
            .execute(arguments: [time, chat])
    }

    private mutating func takeMessage(_ line: HistoryArchive.Line, _ database: Database) throws {
        let number = line.number ?? 0
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO message (
                    chat, number, id, role, text, createdAt, seenAt, interrupted, author, isKept
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """
        )
        try insert.execute(arguments: [
            chat, min(max(number, -HistoryStore.places.upperBound), HistoryStore.places.upperBound), line.id,
            line.role?.storable, line.text?.storable, line.createdAt?.milliseconds, now, line.interrupted == true,
            line.author?.storable, line.kept == true,
        ])
        let isNew = database.changesCount > 0
        if isNew { imported.messages += 1 } else { imported.known += 1 }
        let key = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT key FROM message WHERE chat = ? AND id = ?"),
            arguments: [chat, line.id]
        )
        message = (key ?? 0, isNew)
        guard isNew else { return }
        try setRead(exportedAt, database)
        if let key, let picture = line.picture.flatMap(Base64.decode) {
            try database.execute(
                sql: "INSERT INTO picture (message, data) VALUES (?, ?)",
                arguments: [key, Data(picture)]
            )
        }
        if line.kept == true {
            try database.execute(sql: "UPDATE chat SET isKept = 1, goneAt = NULL WHERE key = ?", arguments: [chat])
        }
    }

    private func takeTool(_ line: HistoryArchive.Line, _ database: Database) throws {
        // The tools of a message that was there before were there too.
        guard message.isNew else { return }
        let name = (line.name ?? "").storable
        try database.execute(
            // The message may have been removed since the last portion.
            sql: """
                INSERT INTO tool (message, id, name, detail, success, at)
                SELECT key, ?, ?, ?, ?, ? FROM message WHERE key = ?
                """,
            arguments: [
                (line.id ?? name).storable, name, (line.detail ?? "").storable, line.success,
                line.at?.milliseconds ?? now, message.key,
            ]
        )
    }
}
