import GRDB
import GRDBSQLite
import NIOCore

extension CompanionHostStore {
    /// Messages a page holds without a limit in the request.
    package static let defaultPageSize = 50
    /// Bytes of text after which a page ends early; a single message may be larger. A page is put together in memory.
    package static let pageTextSize = 4 << 20

    /// A page of a chat as the JSON of ``CompanionMessagesPageResponse``, oldest first.
    ///
    /// It ends before `limit` messages when their text gets larger than ``pageTextSize``.
    ///
    /// Written straight from SQLite's memory to the buffer that is sent: half of a host's work is this.
    ///
    /// - Parameters:
    ///   - offset: How many messages from the oldest one are skipped; negative counts as 0.
    ///   - last: How many messages before the chat's end the page begins, in place of `offset`; negative counts as 0.
    ///     The answer then has a `firstCursor`. nil for `offset`.
    ///   - limit: Clamped to 1…200.
    func messagesPage(
        chatID: String,
        offset: Int,
        last: Int? = nil,
        limit: Int
    ) async throws(CompanionHostError) -> ByteBuffer {
        let limit = min(max(limit, 1), 200)
        let offset = last == nil ? max(offset, 0) : 0
        // Needs no transaction: messages are only ever added, and one that comes between the two statements might as well
        // have come after them.
        return try await database.readEach { [catalog] database in
            var buffer = ByteBufferAllocator().buffer(capacity: 16 << 10)
            buffer.writeStaticString(#"{"ok":true,"chatId":"#)
            buffer.writeJSONString(chatID)
            buffer.writeStaticString(#","messages":["#)
            var start = offset
            var nextCursor: Int?
            if let chat = try ChatRecord.fetchOne(database, key: ["id": chatID]), let key = chat.key,
                catalog.project(id: chat.project) != nil
            {
                if let last { start = max(0, chat.messages - max(0, last)) }
                let written = try Self.write(key: key, offset: start, limit: limit, from: database, to: &buffer)
                // Nothing is written behind the end: an offset from there could overflow.
                if written > 0, start + written < chat.messages { nextCursor = start + written }
            }
            if let nextCursor {
                buffer.writeString(#"],"nextCursor":"\#(nextCursor)""#)
            } else {
                buffer.writeStaticString(#"],"nextCursor":null"#)
            }
            if last != nil { buffer.writeString(#","firstCursor":"\#(start)""#) }
            buffer.writeStaticString("}")
            return buffer
        }
    }

    /// - Returns: How many messages were written.
    private static func write(
        key: Int64,
        offset: Int,
        limit: Int,
        from database: Database,
        to buffer: inout ByteBuffer
    ) throws -> Int {
        let statement = try database.cachedStatement(
            sql: """
                SELECT id, role, text, createdAt, interrupted FROM message
                WHERE chat = ? AND number >= ? ORDER BY number LIMIT ?
                """
        )
        let rows = try Row.fetchCursor(statement, arguments: [key, offset, limit])
        var written = 0
        var size = 0
        while let row = try rows.next() {
            size += statement.bytes(ofColumn: 2).count
            guard written == 0 || size <= pageTextSize else { break }
            buffer.writeStaticString(written == 0 ? #"{"id":"# : #",{"id":"#)
            written += 1
            buffer.writeJSONString(utf8: statement.bytes(ofColumn: 0))
            buffer.writeStaticString(#","role":"#)
            buffer.writeJSONString(utf8: statement.bytes(ofColumn: 1))
            buffer.writeStaticString(#","text":"#)
            buffer.writeJSONString(utf8: statement.bytes(ofColumn: 2))
            buffer.writeStaticString(#","createdAt":"#)
            buffer.writeJSONString(utf8: statement.bytes(ofColumn: 3))
            if row["interrupted"] { buffer.writeStaticString(#","interrupted":true"#) }
            buffer.writeStaticString("}")
        }
        return written
    }
}

extension Statement {
    /// The bytes of a text in the row that the statement's cursor is at, without a copy. Valid until the cursor moves.
    func bytes(ofColumn column: Int32) -> UnsafeRawBufferPointer {
        // In this order: sqlite3_column_bytes counts the bytes of what was asked for last.
        let text = sqlite3_column_text(sqliteStatement, column)
        return UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(sqliteStatement, column)))
    }
}

extension ByteBuffer {
    /// Writes a JSON string.
    mutating func writeJSONString(_ text: String) {
        var text = text
        text.withUTF8 { writeJSONString(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Writes a JSON string of valid UTF-8: quotes, backslashes and control characters are escaped, the rest is
    /// copied in runs.
    mutating func writeJSONString(utf8 bytes: UnsafeRawBufferPointer) {
        let digits: StaticString = "0123456789abcdef"
        writeInteger(UInt8(ascii: "\""))
        var start = 0
        for (index, byte) in bytes.enumerated() {
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            if start < index { writeBytes(UnsafeRawBufferPointer(rebasing: bytes[start..<index])) }
            start = index + 1
            switch byte {
            case UInt8(ascii: "\""): writeStaticString("\\\"")
            case UInt8(ascii: "\\"): writeStaticString("\\\\")
            case 0x0a: writeStaticString("\\n")
            case 0x0d: writeStaticString("\\r")
            case 0x09: writeStaticString("\\t")
            default:
                writeStaticString("\\u00")
                writeInteger(digits.utf8Start[Int(byte >> 4)])
                writeInteger(digits.utf8Start[Int(byte & 15)])
            }
        }
        if start < bytes.count { writeBytes(UnsafeRawBufferPointer(rebasing: bytes[start...])) }
        writeInteger(UInt8(ascii: "\""))
    }
}
