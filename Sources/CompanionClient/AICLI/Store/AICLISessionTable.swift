import CompanionWire
package import FoundationEssentials
import PairingAgent

/// A session of this machine at an AICLI server.
package struct AICLISession: Codable, Sendable, Hashable, Identifiable {
    /// The server's id of it.
    package var id: String
    /// As the server lists the project: continuing compares it letter by letter.
    package var workingDirectory: String
    package var createdAt: Date
    package var lastActivityAt: Date
    /// What was shown of the messages that the server kept: it delivers them again at every subscription.
    package var seen: [String] = []

    package init(id: String, workingDirectory: String, createdAt: Date, lastActivityAt: Date) {
        self.id = id
        self.workingDirectory = workingDirectory
        self.createdAt = createdAt
        self.lastActivityAt = lastActivityAt
    }

    /// When servers give up an idle session: after 24 hours. Some do after half an hour, so each is asked for before it
    /// is used.
    package var expiresAt: Date { lastActivityAt.addingTimeInterval(AICLISessionTable.idleLimit) }
}

/// The sessions of one server: one for each working directory. A value that decides; others do the asking.
package struct AICLISessionTable: Codable, Sendable, Hashable {
    /// Seconds.
    package static let idleLimit: Double = 24 * 3600
    /// The most messages of a session that are remembered as seen.
    static let longestMemory = 512

    package var version = 1
    package private(set) var sessions: [AICLISession] = []

    package init() {}

    /// What the server says of a session.
    package enum Verdict: Sendable, Hashable {
        case continued
        /// It has no such session, or one of another directory.
        case unknown
    }

    package func session(for directory: String) -> AICLISession? {
        sessions.first { $0.workingDirectory.isSame(as: directory) }
    }

    /// Notes that the server gave a session for a directory. It may be one that it already had.
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

    /// Notes what the server says of a session. One that it does not know is forgotten.
    package mutating func take(_ verdict: Verdict, of id: String, at now: Date) {
        switch verdict {
        case .continued: touch(id, at: now)
        case .unknown: forget(id)
        }
    }

    /// Notes that something was said in a session.
    package mutating func touch(_ id: String, at now: Date) {
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
        sessions[index].lastActivityAt = max(now, sessions[index].lastActivityAt)
    }

    package mutating func forget(_ id: String) {
        sessions.removeAll { $0.id == id }
    }

    /// Remembers what of the kept messages was shown.
    package mutating func saw(_ identities: [String], in id: String) {
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
        let known = Set(sessions[index].seen)
        let new = identities.filter { !known.contains($0) }
        sessions[index].seen = (sessions[index].seen + new).suffix(Self.longestMemory)
    }

    /// Forgets sessions that are over: their time is, or the server does not list them.
    ///
    /// - Parameter listed: The ids that the server lists; nil where it was not asked.
    /// - Returns: What was forgotten.
    package mutating func cleanUp(now: Date, listed: Set<String>?) -> [AICLISession] {
        let gone = sessions.filter { session in
            session.expiresAt <= now || listed.map { !$0.contains(session.id) } == true
        }
        sessions.removeAll { gone.contains($0) }
        return gone
    }

    // MARK: Chats

    /// The id of the one chat of a directory: 16 hex digits.
    package static func chatID(for directory: String) -> String {
        DeviceIdentity.shortHash("aicli \(directory)")
    }
}
