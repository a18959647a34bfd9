import CompanionWire
import Crypto

/// A session of one of the host's agents.
struct SessionKey: Sendable, Hashable {
    private static let prefix = "session-"

    private let agent: ByteText
    private let session: ByteText

    init(agent: String, session: String) {
        (self.agent, self.session) = (ByteText(agent), ByteText(session))
    }

    init(_ session: ListedSession, of source: any AgentSessionSource) {
        self.init(agent: source.sessionOwner, session: session.id)
    }

    /// The id of its chat, where the session began elsewhere.
    var chatID: String {
        let digest = SHA256.hash(data: Array("\(agent.text)\0\(session.text)".utf8))
        return Self.prefix + digest.prefix(16).hexText
    }

    /// Whether an id may be that of a session which began elsewhere.
    static func isChatID(_ id: String) -> Bool { id.begins(with: prefix) }
}
