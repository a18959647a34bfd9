import FoundationEssentials

extension FakeLumiScript {
    /// Agents, conversations and automations as a Mac has them, and settings and keys that are made anew each time.
    ///
    /// - Parameter isBare: Whether lists come as older Macs send them: without `items` and `updatedAt`.
    package static func exampleFiles(isBare: Bool = false) -> [String: [UInt8]] {
        func list(_ items: [String]) -> [UInt8] {
            let array = "[\(items.joined(separator: ","))]"
            return Array((isBare ? array : #"{"items":\#(array),"updatedAt":785410800.5}"#).utf8)
        }
        // Nobody's keys: made here, so that tests can look for them where they must not be.
        func key() -> String { "fake-\(UUID().uuidString)" }
        let settings = """
            {"settings.theme":"dark","settings.launchAtLogin":true,"settings.braveAPIKey":"\(key())",\
            "account.name":"Ada","preferences.fontSize":14}
            """
        let keys = #"{"lumiagent.apikey.openai":"\#(key())","lumiagent.apikey.anthropic":"\#(key())"}"#
        return [
            "agents.json": list(agents),
            "conversations.json": list(conversations),
            "automations.json": list(automations),
            "sync_settings.json": Array(settings.utf8),
            "sync_api_keys.json": Array(keys.utf8),
        ]
    }

    private static let writer = "6F1C3C52-7C1B-4B7A-9B1E-0C2B5D8A4E01"
    private static let reviewer = "6F1C3C52-7C1B-4B7A-9B1E-0C2B5D8A4E02"
    private static let local = "6F1C3C52-7C1B-4B7A-9B1E-0C2B5D8A4E03"

    private static func agent(
        _ id: String,
        _ name: String,
        _ provider: String,
        _ model: String,
        prompt: String,
        temperature: Double
    ) -> String {
        """
        {"id":"\(id)","name":"\(name)","configuration":{"provider":"\(provider)","model":"\(model)",\
        "systemPrompt":"\(prompt)","temperature":\(temperature),"maxTokens":2048,"enabledTools":["read_file"],\
        "securityPolicy":{"allowSudo":false,"requireApproval":true}},"capabilities":["fileOperations"],\
        "status":"idle","createdAt":780000000,"updatedAt":785400000.25}
        """
    }

    private static var agents: [String] {
        [
            agent(writer, "Writer", "OpenAI", "gpt-4o", prompt: "You write plainly.", temperature: 0.7),
            agent(reviewer, "Reviewer", "Anthropic", "claude-sonnet-4", prompt: "You review code.", temperature: 0.2),
            agent(local, "Local", "Ollama", "llama3.2", prompt: "You are brief.", temperature: 0.5),
        ]
    }

    private static func message(_ number: Int, _ role: String, _ content: String, agent: String? = nil) -> String {
        let agentMember = agent.map { #","agentId":"\#($0)""# } ?? ""
        return """
            {"id":"9A0B7C11-2D3E-4F50-8A61-7B8C9D0E1F\(number < 10 ? "0" : "")\(number)","role":"\(role)",\
            "content":"\(content)"\(agentMember),"timestamp":\(785_400_000 + number * 60),"isStreaming":false}
            """
    }

    private static var conversations: [String] {
        let garden = [
            message(1, "user", "Plan a vegetable garden for a north balcony"),
            message(2, "agent", "Lettuce, spinach and chives do well there.", agent: writer),
            message(3, "user", "And in winter?"),
            message(4, "agent", "Lamb's lettuce under fleece.", agent: writer),
        ]
        let review = [
            message(5, "user", "Is this retry loop sound?"),
            message(6, "agent", "It never gives up: add a limit and jitter.", agent: reviewer),
        ]
        func conversation(_ id: String, _ title: String, _ agent: String, _ messages: [String]) -> String {
            """
            {"id":"\(id)","title":"\(title)","participantIds":["\(agent)"],"messages":[\(messages.joined(separator: ","))],\
            "createdAt":785400000,"updatedAt":785400400}
            """
        }
        return [
            conversation("B2D0E6A4-1C9F-4E57-8D11-3F5A7C9E0B01", "Balcony garden", writer, garden),
            conversation("B2D0E6A4-1C9F-4E57-8D11-3F5A7C9E0B02", "Retry loop", reviewer, review),
        ]
    }

    private static var automations: [String] {
        [
            """
            {"id":"C3E1F7B5-2DA0-4F68-9E22-406B8DAF1C01","title":"Morning summary","notes":"Weather, calendar, mail",\
            "trigger":{"type":"schedule","hour":8,"minute":0},"agentId":"\(writer)","isEnabled":true,\
            "lastRunAt":785390400,"createdAt":780000000}
            """,
            """
            {"id":"C3E1F7B5-2DA0-4F68-9E22-406B8DAF1C02","title":"Review on push","notes":"",\
            "trigger":{"type":"manual"},"isEnabled":false,"createdAt":781000000}
            """,
        ]
    }
}
