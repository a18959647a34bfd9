package import FoundationEssentials

/// Sample data of a Mac: an agent, and a conversation with it. Times are seconds since 2001.
package struct LumiSample: Sendable {
    package let agent = UUID()
    package let conversation = UUID()
    /// The id of the user's message in the conversation.
    package let question = UUID()

    package init() {}

    /// The agent, as JSON.
    package func agents(name: String = "Ada") -> String {
        """
        {"id":"\(agent.uuidString)","name":"\(name)","configuration":{"provider":"OpenAI","model":"gpt-x",\
        "systemPrompt":"Be brief.","temperature":0.5,"enabledTools":["web"],\
        "securityPolicy":{"allowSudo":false,"limit":1.5}},"capabilities":["chat"],"status":"idle",\
        "createdAt":700000000,"updatedAt":700000100.5}
        """
    }

    /// The conversation, as JSON.
    package var conversations: String {
        """
        {"id":"\(conversation.uuidString)","title":"Tides","participantIds":["\(agent.uuidString)"],"messages":[\
        {"id":"\(question.uuidString)","role":"user","content":"Why?","timestamp":700000200,"isStreaming":false},\
        {"id":"\(UUID().uuidString)","role":"agent","content":"The moon.","agentId":"\(agent.uuidString)",\
        "timestamp":700000201,"isStreaming":false,"imageData":"AQID"}],"createdAt":700000200,"updatedAt":700000201}
        """
    }
}
