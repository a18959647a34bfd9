package import FoundationEssentials

/// One JSON frame of `GET /companion/live` (companion-v2, Streams): what happened at the host, and to what.
package struct LiveEvent: Codable, Sendable, Hashable {
    /// The kind of an event. Unknown names are kept as they are.
    package struct Kind: RawRepresentable, Codable, Sendable, Hashable {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The first frame of every connection.
        package static let hello = Kind(rawValue: "hello")
        /// A device paired or connected.
        package static let deviceConnected = Kind(rawValue: "device.connected")
        /// A device closed its last connection.
        package static let deviceDisconnected = Kind(rawValue: "device.disconnected")
        /// A device was unpaired, at the host or by itself.
        package static let deviceRevoked = Kind(rawValue: "device.revoked")
        /// A project was made or changed.
        package static let projectChanged = Kind(rawValue: "project.changed")
        /// A chat was made, or its title or state changed.
        package static let chatChanged = Kind(rawValue: "chat.changed")
        /// A chat got a message, of a user or of the agent.
        package static let messageCreated = Kind(rawValue: "message.created")
        /// The agent began to work on a prompt.
        package static let turnStarted = Kind(rawValue: "turn.started")
        /// A turn ended; ``ok`` tells whether it ended well.
        package static let turnFinished = Kind(rawValue: "turn.finished")
        /// Somebody sent a wrong code or token.
        package static let pairingFailed = Kind(rawValue: "pairing.failed")
        /// The agent waits for an answer.
        package static let approvalAsked = Kind(rawValue: "approval.asked")
        /// A question was answered, or needs no answer any more.
        package static let approvalDecided = Kind(rawValue: "approval.decided")
        /// The agent went on after a question was decided.
        package static let approvalContinued = Kind(rawValue: "approval.continued")
    }

    /// The kind of the event, which decides which of the members below it has.
    package var type: Kind
    /// When, by the host's clock.
    package var at: Date
    /// The host's id; nil if the event does not tell it. The same goes for all members below: each event has those that
    /// belong to its type.
    package var hostId: String?
    /// The id of the device that did it, or that it happened to.
    package var deviceId: String?
    /// The device's name, as the device gave it: untrusted text.
    package var deviceName: String?
    /// The id of the project that changed, or that the chat belongs to.
    package var projectId: String?
    /// The id of the chat that changed, or that the message or turn belongs to.
    package var chatId: String?
    /// The id of the new message.
    package var messageId: String?
    /// The id of the turn that began or ended.
    package var turnId: String?
    /// Whether a turn ended well.
    package var ok: Bool?
    /// How many wrong codes the challenge still takes.
    package var triesLeft: Int?
    /// The address that a failed pairing came from.
    package var address: String?
    /// The id of the agent's question that the event is about.
    package var approvalId: String?
    /// A short description of the action that the agent asks to take.
    package var title: String?
    /// The state of a question, a raw value of ``Approval/State``.
    package var state: String?
    /// A name, for people, of the person or device that answered a question.
    package var decidedBy: String?
    /// The mode of the chat's agent; nil where that is not known.
    package var mode: AgentMode?

    package init(
        _ type: Kind,
        at: Date,
        hostId: String? = nil,
        deviceId: String? = nil,
        deviceName: String? = nil,
        projectId: String? = nil,
        chatId: String? = nil,
        messageId: String? = nil,
        turnId: String? = nil,
        ok: Bool? = nil,
        triesLeft: Int? = nil,
        address: String? = nil,
        approvalId: String? = nil,
        title: String? = nil,
        state: String? = nil,
        decidedBy: String? = nil,
        mode: AgentMode? = nil
    ) {
        self.type = type
        self.at = at
        self.hostId = hostId
        self.deviceId = deviceId
        self.deviceName = deviceName
        self.projectId = projectId
        self.chatId = chatId
        self.messageId = messageId
        self.turnId = turnId
        self.ok = ok
        self.triesLeft = triesLeft
        self.address = address
        self.approvalId = approvalId
        self.title = title
        self.state = state
        self.decidedBy = decidedBy
        self.mode = mode
    }
}
