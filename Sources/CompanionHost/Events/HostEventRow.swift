import CompanionWire
import FoundationEssentials

/// An event of the host as a line of JSON.
package struct HostEventRow: Encodable, Sendable {
    var event: String
    var port: Int?
    var tlsPort: Int?
    var code: String?
    var qrPayload: String?
    var expiresAt: Date?
    var reason: String?
    var address: String?
    var triesLeft: Int?
    var deviceId: String?
    var deviceName: String?
    var permissions: [String]?
    var failures: Int?
    var chatId: String?
    var chatTitle: String?
    var projectId: String?
    var turnId: String?
    var ok: Bool?
    var message: String?
    var lines: [String]?
    var log: String?
    var questionId: String?
    var title: String?
    var outcome: String?
    var by: String?
    var mode: AgentMode?
    var target: String?

    /// An event of the advertisement.
    package init(event: String, message: String) {
        self.event = event
        self.message = message
    }

    /// - Parameter showSecrets: Whether to write the pairing code and the QR payload.
    package init(_ hostEvent: HostEvent, showSecrets: Bool) {
        switch hostEvent {
        case .listening(let port, let tlsPort):
            event = "listening"
            self.port = port
            self.tlsPort = tlsPort
        case .challenge(let challenge):
            event = "challenge"
            expiresAt = challenge.expiresAt
            code = showSecrets ? challenge.code : nil
            qrPayload = showSecrets ? challenge.qrPayload : nil
        case .challengeEnded(let reason):
            event = "challenge_ended"
            self.reason = reason.rawValue
        case .wrongCode(let address, let left):
            event = "wrong_code"
            self.address = address
            triesLeft = left
        case .paired(let device, let address):
            event = "paired"
            deviceId = device.id
            deviceName = device.name
            self.address = address
        case .pairingLocked(let failures):
            event = "pairing_locked"
            self.failures = failures
        case .pairingUnlocked:
            event = "pairing_unlocked"
        case .connected(let device, let address):
            event = "connected"
            deviceId = device.id
            deviceName = device.name
            self.address = address
        case .permissionsChanged(let id, let permissions):
            event = "permissions_changed"
            deviceId = id
            self.permissions = permissions
        case .disconnected(let device):
            event = "disconnected"
            deviceId = device.id
            deviceName = device.name
        case .revoked(let id):
            event = "revoked"
            deviceId = id
        case .projectCreated(let project, let device):
            event = "project_created"
            projectId = project.id
            deviceId = device
        case .chatCreated(let chat, let device):
            event = "chat_created"
            chatId = chat.id
            projectId = chat.projectId
            deviceId = device
        case .quotaReached(let device, let what):
            event = "quota_reached"
            deviceId = device.id
            deviceName = device.name
            message = what
        case .turnStarted(let turn):
            event = "turn_started"
            chatId = turn.chatID
            chatTitle = turn.title
            turnId = turn.turnID
            deviceId = turn.device
            mode = turn.mode
        case .modeChanged(let chatID, let projectID, let mode):
            event = "mode_changed"
            chatId = chatID
            projectId = projectID
            self.mode = mode
        case .turnFinished(let chatID, let turnID, let state):
            event = "turn_finished"
            chatId = chatID
            turnId = turnID
            ok = state == .finished
            outcome = state.rawValue
        case .agent(let message, let lines, let log):
            event = "agent"
            self.message = message
            self.lines = lines
            self.log = log
        case .questionAsked(let question):
            event = "question_asked"
            questionId = question.id
            chatId = question.chatId
            title = question.title
            expiresAt = question.expiresAt
            mode = question.mode
        case .questionEnded(let question):
            event = "question_ended"
            questionId = question.id
            chatId = question.chatId
            outcome = question.state.rawValue
            by = question.decidedBy
        case .questionContinued(let notice, let chatID, let turnID):
            event = "question_continued"
            questionId = notice.id
            chatId = chatID
            turnId = turnID
            outcome = notice.state.rawValue
        case .alwaysRefused(let question, let device):
            event = "always_refused"
            questionId = question.id
            chatId = question.chatId
            title = question.title
            deviceId = device.id
            deviceName = device.name
        case .notifyFailed(let target, let reason):
            event = "notify_failed"
            self.target = target
            self.reason = reason
        }
    }
}
