import CompanionWire
package import FoundationEssentials

/// Writes chats as JSON Lines.
package struct ArchiveWriter: ChatWriter {
    private let now: Date
    private var host: String?
    private var projects: Set<ByteText> = []

    /// - Parameter now: When the chats are written.
    package init(now: Date) {
        self.now = now
    }

    package var beginning: String {
        var line = HistoryArchive.Line(.archive)
        (line.version, line.exportedAt) = (HistoryArchive.version, now)
        return text(line)
    }

    package mutating func begin(_ chat: HistoryChat) -> String {
        var lines = ""
        if host.map(chat.host.id.isSame) != true {
            var line = HistoryArchive.Line(.host)
            (line.id, line.name, line.family) = (chat.host.id, chat.host.name, chat.host.family)
            lines += text(line)
            (host, projects) = (chat.host.id, [])
        }
        if let project = chat.project, projects.insert(ByteText(project.id)).inserted {
            var line = HistoryArchive.Line(.project)
            (line.id, line.name, line.localPath) = (project.id, project.name, project.localPath)
            line.lastUpdatedAt = project.lastUpdatedAt
            lines += text(line)
        }
        var line = HistoryArchive.Line(.chat)
        (line.id, line.projectId, line.title) = (chat.chat.id, chat.chat.projectId, chat.chat.title)
        (line.lastUpdatedAt, line.readAt) = (chat.chat.lastUpdatedAt, chat.readAt)
        if !chat.participants.isEmpty { line.participants = chat.participants }
        line.createdAt = chat.createdAt
        return lines + text(line)
    }

    package func text(_ message: HistoryMessage) -> String {
        var line = HistoryArchive.Line(.message)
        (line.id, line.number) = (message.message.id, message.number)
        (line.role, line.text) = (message.message.role.rawValue, message.message.text)
        (line.createdAt, line.interrupted) = (message.message.createdAt, message.message.interrupted)
        (line.author, line.picture) = (message.author, message.picture.map { Base64.encode($0) })
        if message.isKept { line.kept = true }
        return text(line)
            + message.tools.map { tool in
                var line = HistoryArchive.Line(.tool)
                (line.id, line.name, line.detail) = (tool.id, tool.name, tool.detail)
                (line.success, line.at) = (tool.success, tool.at)
                return text(line)
            }.joined()
    }

    private func text(_ line: HistoryArchive.Line) -> String {
        guard let data = try? CompanionJSON.encoder(sorted: true).encode(line) else { return "" }
        return TerminalText.json(String(decoding: data, as: UTF8.self)) + "\n"
    }
}
