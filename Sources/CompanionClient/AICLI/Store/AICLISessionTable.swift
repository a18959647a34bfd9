import CompanionWire
package import FoundationEssentials
import Identity

/// A session of this machine on an AICLI server.
package struct AICLISession: Codable, Sendable, Hashable, Identifiable {
    /// The session's id on the server.
    package var id: String
    /// Exactly as the server lists the project: it compares the path byte by byte when a session is continued.
    package var workingDirectory: String
    /// The time of the first prompt, by this device's clock.
    package var createdAt: Date
    /// The time of the latest prompt or answer, by this device's clock.
    package var lastActivityAt: Date
    /// The stored messages that were already shown. The server sends them again on every subscription.
    package var seen: [String] = []

    package init(id: String, workingDirectory: String, createdAt: Date, lastActivityAt: Date) {
        self.id = id
        self.workingDirectory = workingDirectory
        self.createdAt = createdAt
        self.lastActivityAt = lastActivityAt
    }

    /// When servers discard an idle session: after 24 hours. Some do so after 30 minutes, so the server is asked about
    /// a session before each use.
    package var expiresAt: Date { lastActivityAt.addingTimeInterval(AICLISessionTable.idleLimit) }
}

/// The sessions on one server, one for each working directory. A value type that makes decisions; its callers make the
/// requests.
package struct AICLISessionTable: Codable, Sendable, Hashable {
    /// In seconds.
    package static let idleLimit: Double = 24 * 3600
    /// The most messages per session that are remembered as seen.
    static let longestMemory = 512

    /// The version of the file's format.
    package var version = 1
    package private(set) var sessions: [AICLISession] = []

    package init() {}

    /// The server's answer about a session.
    package enum Verdict: Sendable, Hashable {
        case continued
        /// The server has no such session, or it belongs to another directory.
        case unknown
    }

    /// Returns the session of a directory, whose path is compared byte by byte; nil if there is none.
    package func session(for directory: String) -> AICLISession? {
        sessions.first { $0.workingDirectory.isSame(as: directory) }
    }

    /// Records the session that the server returned for a directory. It may be one that already existed.
    package mutating func started(_ id: String, in directory: String, at now: Date) {
        if let index = sessions.firstIndex(where: { $0.workingDirectory.isSame(as: directory) }),
            sessions[index].id == id
        {
            sessions[index].lastActivityAt = now
            return
        }
        sessions.removeAll { $0.workingDirectory.isSame(as: directory) || $0.id == id }
        sessions.append(AICLISession(id: id, workingDirectory: directory, createdAt: now, lastActivityAt: now))
    }

    /// Records the server's answer about a session. An unknown session is removed.
    package mutating func take(_ verdict: Verdict, of id: String, at now: Date) {
        switch verdict {
        case .continued: touch(id, at: now)
        case .unknown: forget(id)
        }
    }

    /// Records activity in a session.
    package mutating func touch(_ id: String, at now: Date) {
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
        sessions[index].lastActivityAt = max(now, sessions[index].lastActivityAt)
    }

    package mutating func forget(_ id: String) {
        sessions.removeAll { $0.id == id }
    }

    /// Records which stored messages were shown.
    package mutating func saw(_ identities: [String], in id: String) {
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
        let known = Set(sessions[index].seen.map(ByteText.init))
        let new = identities.filter { !known.contains(ByteText($0)) }
        sessions[index].seen = (sessions[index].seen + new).suffix(Self.longestMemory)
    }

    /// Removes sessions that have expired or that the server does not list.
    ///
    /// - Parameter listed: The ids that the server lists; nil if it was not asked.
    /// - Returns: The removed sessions.
    package mutating func cleanUp(now: Date, listed: Set<String>?) -> [AICLISession] {
        let gone = sessions.filter { session in
            session.expiresAt <= now || listed.map { !$0.contains(session.id) } == true
        }
        sessions.removeAll { gone.contains($0) }
        return gone
    }

    // MARK: Chats

    /// The id of a directory's only chat: 16 hex digits.
    package static func chatID(for directory: String) -> String {
        DeviceIdentity.shortHash("aicli \(directory)")
    }
}
