import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity

/// A waiting prompt in JSON.
struct WaitingRow: Encodable {
    var id: String
    var state: WaitingPrompt.State
    var hostId: String
    var hostName: String
    var writtenAt: Date
    var workingDirectory: String
    var chatId: String?
    var chatTitle: String?
    var prompt: String
    /// The tools that the agent may use without asking; nil allows all.
    var allowedTools: [String]?
    /// Whether questions about other tools are answered with no.
    var deniesQuestions: Bool?
    /// Why the host refused it.
    var reason: String?

    init(_ queued: QueuedPrompt) {
        let waiting = queued.prompt
        (hostId, hostName) = (queued.host.id, queued.host.name)
        id = waiting.id
        state = waiting.state
        writtenAt = waiting.writtenAt
        workingDirectory = waiting.workingDirectory
        chatId = waiting.chat
        chatTitle = waiting.chatTitle
        prompt = waiting.prompt
        allowedTools = waiting.allowedTools
        deniesQuestions = waiting.deniesQuestions ? true : nil
        reason = waiting.reason
    }

    /// For people: what the agent may do without asking.
    var tools: String {
        guard let allowedTools else { return "all are allowed" }
        let others = deniesQuestions == true ? "questions are denied" : "the agent asks"
        return allowedTools.isEmpty ? others : "\(allowedTools.joined(separator: ", ")) allowed; else \(others)"
    }
}
