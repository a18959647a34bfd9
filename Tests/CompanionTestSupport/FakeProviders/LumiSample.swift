package import FoundationEssentials

/// What a Mac gives: an agent, and a conversation with it.
package struct LumiSample: Sendable {
    package let agent = UUID()
    package let conversation = UUID()
    package let question = UUID()

    package init() {}

    package func agents(name: String = "Ada") -> String {
        """
        {"id":"\(agent.uuidString)","name":"\(name)","configuration":{"provider":"OpenAI","model":"gpt-x",\
        "systemPrompt":"Be brief.","temperature":0.5,"enabledTools":["web"],\
        "securityPolicy":{"allowSudo":false,"limit":1.5}},"capabilities":["chat"],"status":"idle",\
        "createdAt":700000000,"updatedAt":700000100.5}
        """
    }

    package var conversations: String {
        """
        {"id":"\(conversation.uuidString)","title":"Tides","participantIds":["\(agent.uuidString)"],"messages":[\
        {"id":"\(question.uuidString)","role":"user","content":"Why?","timestamp":700000200,"isStreaming":false},\
        {"id":"\(UUID().uuidString)","role":"agent","content":"The moon.","agentId":"\(agent.uuidString)",\
        "timestamp":700000201,"isStreaming":false,"imageData":"AQID"}],"createdAt":700000200,"updatedAt":700000201}
        """
    }
}
