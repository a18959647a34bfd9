import CompanionWire
import FoundationEssentials

/// The content of a turn: the prompt, and the answer as far as it came.
struct TurnRecord {
    private let prompt: LumiMessage
    private let agent: UUID
    var answer = ""

    init(_ request: TurnRequest, agent: UUID, at time: Date) {
        prompt = LumiMessage(
            id: UUID(),
            role: "user",
            content: request.prompt,
            timestamp: time,
            imageData: request.images.first.map { Data($0.bytes) }
        )
        self.agent = agent
    }

    /// As they are kept.
    ///
    /// - Parameter isWhole: Whether the answer came to its end.
    func messages(isWhole: Bool, at time: Date) -> [LumiMessage] {
        let answer = LumiMessage(
            id: UUID(),
            role: "agent",
            content: answer,
            agentId: agent,
            timestamp: time,
            isStreaming: !isWhole
        )
        return [prompt, answer]
    }
}
