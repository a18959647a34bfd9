import CompanionWire
import GRDB

/// Handles the messages that were written down here during turns, until the host's own messages replace them.
extension PageWriter {
    /// A message that was written down here.
    private struct Own {
        var key: Int64
        var isPrompt: Bool
        var text: String
        /// When it was written down, by the clock of this machine.
        var time: Int64
    }

    /// The host's message that is the same as a prompt.
    private struct Match {
        var prompt: Own
        var key: Int64
        var number: Int
        /// In milliseconds.
        var distance: Int64
    }

    /// How long before a prompt was written down another process may have read the host's own message, and how far a
    /// host's clock may be behind: in milliseconds.
    private static let overlap: Int64 = 60_000
    private static let slowClock: Int64 = 86_400_000

    /// Replaces prompts and answers that were written down here by the host's own messages. Tools go with their prompt.
    ///
    /// A prompt is replaced only by a message with its text. Hosts store some late, and lose others with their turns:
    /// what they do not have stays behind their messages, until newer ones of the chat are read.
    func replaceOwn() throws {
        let own = try ownMessages.fetchAll(database).map { row in
            Own(
                key: row["key"],
                isPrompt: row["role"] == CompanionMessage.Role.user.rawValue,
                text: row["text"],
                time: row["seenAt"]
            )
        }
        guard !own.isEmpty else { return }
        let matches = try matches(of: own.filter(\.isPrompt))
        // Of the last prompt: whether the host has it, and whether it goes.
        var match: Match?
        var isPromptGone: Bool?
        for message in own {
            let isGone: Bool
            if message.isPrompt {
                match = matches[message.key]
                isGone = try match != nil || hasNewer(than: message)
                isPromptGone = isGone
            } else if let match {
                isGone = try hasMessage(behind: match.number)
            } else {
                isGone = try isPromptGone ?? isAnswered(before: message)
            }
            guard isGone else { continue }
            if message.isPrompt, let match {
                try Table("tool").filter(Column("message") == message.key)
                    .updateAll(database, Column("message").set(to: match.key))
            }
            try Table("message").filter(Column("key") == message.key).deleteAll(database)
        }
        try placeRest()
    }

    /// The host's messages that are the same as prompts, by the prompts' keys: each once, the nearest in time.
    private func matches(of prompts: [Own]) throws -> [Int64: Match] {
        let (stored, wanted) = (Self.comparable("text"), Self.comparable("?"))
        var all: [Match] = []
        for prompt in prompts {
            // Those that were read before the prompt was sent are others, whatever they say.
            all += try Row.fetchAll(
                database,
                sql: """
                    SELECT key, number, ifnull(createdAt, seenAt) AS time FROM message
                    WHERE chat = ? AND isOwn = 0 AND role = 'user' AND seenAt >= ? AND ifnull(createdAt, seenAt) >= ?
                        AND \(stored) = \(wanted)
                    """,
                arguments: [chat, prompt.time - Self.overlap, prompt.time - Self.slowClock, prompt.text]
            ).map { row in
                let distance = abs(row["time"] as Int64 - prompt.time)
                return Match(prompt: prompt, key: row["key"], number: row["number"], distance: distance)
            }
        }
        all.sort { ($0.distance, -$0.number) < ($1.distance, -$1.number) }
        var (matches, taken) = ([Int64: Match](), Set<Int64>())
        for match in all where matches[match.prompt.key] == nil && taken.insert(match.key).inserted {
            matches[match.prompt.key] = match
        }
        return matches
    }

    private static func comparable(_ text: String) -> String {
        "trim(\(text), char(9) || char(10) || char(13) || ' ')"
    }

    /// Whether the host went on after a prompt that it does not have.
    private func hasNewer(than prompt: Own) throws -> Bool {
        try !hostMessages.filter((Column("createdAt") ?? Column("seenAt")) > prompt.time)
            .filter(Column("seenAt") >= prompt.time - Self.overlap).isEmpty(database)
    }

    private func hasMessage(behind number: Int) throws -> Bool {
        try !hostMessages.filter(Column("number") > number).isEmpty(database)
    }

    /// Whether the host has said something in the place of an answer whose prompt it has: its last message is no prompt,
    /// or a later one.
    private func isAnswered(before answer: Own) throws -> Bool {
        guard let last = try hostMessages.order(Column("number").desc).fetchOne(database) else { return false }
        return last["role"] != CompanionMessage.Role.user.rawValue
            || (last["createdAt"] as Int64?) ?? last["seenAt"] > answer.time
    }

    /// The messages that were written down here, in their order.
    private var ownMessages: QueryInterfaceRequest<Row> {
        HistoryRows.messages(of: chat).filter(Column("isOwn") == 1).order(Column("number"), Column("key"))
    }

    /// Puts what stays behind the host's messages: a gap would count as messages that were never read.
    private func placeRest() throws {
        let last = try hostMessages.lastNumber(database) ?? -1
        for (index, key) in try ownMessages.keys(database).enumerated() {
            try Table("message").filter(Column("key") == key)
                .updateAll(database, Column("number").set(to: last + 1 + index))
        }
    }
}
