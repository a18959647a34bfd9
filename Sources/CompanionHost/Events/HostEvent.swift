package import CompanionWire

/// The reason for which a pairing challenge ended.
package enum PairingChallengeEnd: String, Sendable, Hashable, CustomStringConvertible {
    case expired
    /// A device paired with it.
    case used
    /// Three wrong tries.
    case burnt
    /// Another challenge was started from this machine.
    case replaced

    package var description: String { rawValue }
}

/// An event at a host, for its user interface.
package enum HostEvent: Sendable, Hashable {
    /// The host answers on these ports: plain HTTP, and HTTPS.
    case listening(port: Int, tlsPort: Int)
    /// A challenge that a device can pair with. Holds secrets: for the owner's eyes only.
    case challenge(PairingStartResponse)
    case challengeEnded(reason: PairingChallengeEnd)
    /// Someone sent a wrong code or token.
    case wrongCode(address: String, triesLeft: Int)
    case paired(CompanionDevice, address: String)
    /// Too many wrong codes in a row: until the owner unlocks pairing, only tokens are accepted.
    case pairingLocked(failures: Int)
    case pairingUnlocked
    /// A paired device has a session from now on.
    case connected(CompanionDevice, address: String)
    case disconnected(CompanionDevice)
    /// The permissions of a device have changed; `permissions` are the names of those that it has now.
    case permissionsChanged(id: String, permissions: [String])
    /// A device was removed from the list of paired devices.
    case revoked(id: String)
    /// A device made a project; `device` is its id.
    case projectCreated(CompanionProject, device: String)
    /// A device made a chat; `device` is its id.
    case chatCreated(CompanionChat, device: String)
    /// A device has reached a limit of its quota; `what` names the limit, for people.
    case quotaReached(CompanionDevice, what: String)
    case turnStarted(TurnStart)
    /// The chat's agent works in another mode, or in the first that is known.
    case modeChanged(chatID: String, projectID: String, mode: AgentMode)
    case turnFinished(chatID: String, turnID: String, state: TurnState)
    /// A message about the agent for the owner (``AgentReport``): what happened and how to fix it, the last lines of
    /// its standard error, and the file with all of it.
    case agent(message: String, lines: [String], log: String?)
    /// The agent waits for an answer.
    case questionAsked(Approval)
    /// It was answered, or needs no answer any more.
    case questionEnded(Approval)
    /// The agent went on after a question was decided.
    case questionContinued(ApprovalNotice, chatID: String, turnID: String)
    /// A device chose an answer that goes for later questions too, which only the owner may.
    case alwaysRefused(Approval, device: CompanionDevice)
    /// Notifications do not reach a target any more; `target` names its server.
    case notifyFailed(target: String, reason: String)
}

/// How far a turn is.
package enum TurnState: String, Codable, Sendable, Hashable {
    /// Turns before it have to end first.
    case waiting
    case running
    /// The answer is complete.
    case finished
    /// Ended by an error: the agent's, a timeout, or the end of its device's access.
    case failed
    /// Ended on request.
    case cancelled
    /// Cut off by the end of the host.
    case interrupted

    /// Whether nothing follows.
    package var isFinal: Bool { self != .waiting && self != .running }
}

/// A turn that an agent begins to answer.
package struct TurnStart: Sendable, Hashable {
    /// The id of the chat that gets the answer.
    package var chatID: String
    /// The title of the chat; nil if it could not be read.
    package var title: String?
    /// The id by which the turn can be read and cancelled.
    package var turnID: String
    /// The id of the device that asks.
    package var device: String
    /// The mode that the chat's agent reported last; nil if it has reported none.
    package var mode: AgentMode?

    package init(chatID: String, title: String?, turnID: String, device: String, mode: AgentMode?) {
        self.chatID = chatID
        self.title = title
        self.turnID = turnID
        self.device = device
        self.mode = mode
    }
}

/// Passes events on to the user interface and to devices.
struct HostEventSink: Sendable {
    let stream: AsyncStream<HostEvent>
    /// Sends events to devices.
    let live: LiveEventBroadcaster
    private let continuation: AsyncStream<HostEvent>.Continuation
    /// They get each event before all others.
    private var observers: [@Sendable (HostEvent) -> Void] = []

    init(live: LiveEventBroadcaster) {
        self.live = live
        // Nobody has to listen: the newest thousand are kept, so that a host without a terminal does not grow.
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1000))
    }

    /// The same, with a receiver that gets each event sent by it before all others.
    func observed(by observer: @escaping @Sendable (HostEvent) -> Void) -> HostEventSink {
        var sink = self
        sink.observers.append(observer)
        return sink
    }

    func send(_ event: HostEvent) {
        for observer in observers { observer(event) }
        continuation.yield(event)
        live.publish(event)
    }

    func finish() {
        continuation.finish()
        live.finish()
    }
}
