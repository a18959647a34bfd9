import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

/// What a host does for editors on other machines.
@Suite("Editors on other machines", .timeLimit(.minutes(15)))
struct EditorHostTests {
    /// Blocks with what nobody could look at.
    private static let unseen = [
        #"[{"type":"text","text":"x"},{"type":"other"}]"#,
        #"[{"type":"text","text":"x"},{"type":"resource","resource":{"uri":"a","blob":"AAAA"}}]"#,
        #"[{"type":"text","text":"x"},{"type":"image","mimeType":"image/png","data":"AAAA"}]"#,
    ]

    private func draft(_ device: TestDevice) async throws -> String {
        let made = try await device.execute(
            .chatCreate(projectID: try await device.firstProject(), title: nil, isDraft: true)
        )
        return try #require(made.result["id"]?.string)
    }

    private func prompt(_ text: String, in chat: String) -> CommandPayload {
        let content: JSONValue = [["type": "text", "text": .string(text), "annotations": ["priority": .number(0.5)]]]
        return .chatSend(
            chatID: chat,
            prompt: text,
            model: nil,
            allowedTools: nil,
            content: String(decoding: content.json, as: UTF8.self)
        )
    }

    private func chats(_ device: TestDevice) async throws -> [String] {
        try await device.get("/companion/projects/\(try await device.firstProject())/chats")
            .decoded(CompanionChatsResponse.self).chats.elements.map(\.id)
    }

    @Test("The agent's own words go to who may prompt it and asks for them, and to nobody else")
    func words() async throws {
        try await withFakeAgent { host, device in
            let chat = try await draft(device)
            let sent = try await device.execute(prompt("think", in: chat))
            let turn = try #require(sent.result["turnId"]?.string)
            let path = "/companion/chats/\(chat)/turns/\(turn)/events"
            let usual = try await device.get(path)
            #expect(usual.body.contains("agent_tool") && !usual.body.contains("agent_acp"), "\(usual.body)")
            let whole = try await device.get(path + "?acp=1")
            for word in ["\"sessionUpdate\":\"tool_call\"", "\"answer\":{", "\"priority\":\"high\"", "agent_tool"] {
                #expect(whole.body.contains(word), "\(word): \(whole.body)")
            }
            try await withTemporaryDirectory { other in
                var reader = try device.another(in: other)
                try await reader.pair(permissions: [.projectCreate])
                let seen = try await reader.get(path + "?acp=1")
                #expect(seen.status == 200 && !seen.body.contains("agent_acp"), "\(seen.body)")
            }
            // Whoever sends a prompt without blocks gets none.
            let plain = try await device.execute(
                .chatSend(chatID: chat, prompt: "say hello", model: nil, allowedTools: nil)
            )
            let other = try #require(plain.result["turnId"]?.string)
            let said = try await device.get("/companion/chats/\(chat)/turns/\(other)/events?acp=1")
            #expect(said.body.contains("hello") && !said.body.contains("agent_acp"), "\(said.body)")
        }
    }

    @Test("What people see of a prompt is what its blocks say, whatever stands beside them")
    func stored() async throws {
        try await withFakeAgent { _, device in
            let chat = try await draft(device)
            let content: JSONValue = [
                ["type": "text", "text": "say "],
                ["type": "resource_link", "name": "a.txt", "uri": "file:///a.txt"],
            ]
            let sent = try await device.execute(
                .chatSend(
                    chatID: chat,
                    prompt: "harmless",
                    model: nil,
                    allowedTools: nil,
                    content: String(decoding: content.json, as: UTF8.self)
                )
            )
            _ = try await device.events(chat: chat, turn: try #require(sent.result["turnId"]?.string))
            let page = try await device.get("/companion/chats/\(chat)/messages")
                .decoded(CompanionMessagesPageResponse.self)
            #expect(page.messages.elements.first?.text == "say a.txt (file:///a.txt)")
        }
    }

    @Test("A draft is on no list until it has a prompt, and a device's oldest go when it has many")
    func drafts() async throws {
        try await withFakeAgent { _, device in
            let first = try await draft(device)
            let second = try await draft(device)
            #expect(try await chats(device).isEmpty)
            let sent = try await device.execute(prompt("say hello", in: second))
            _ = try await device.events(chat: second, turn: try #require(sent.result["turnId"]?.string))
            #expect(try await chats(device) == [second])
            try await withTemporaryDirectory { other in
                var second = try device.another(in: other)
                try await second.pair()
                for _ in 0..<60 { _ = try await draft(second) }
            }
            #expect(try await device.command(.agentOpen(chatID: first, model: nil)).status == 200)
            for _ in 0..<50 { _ = try await draft(device) }
            let late = try await device.command(prompt("say hello", in: first))
            #expect(late.status == 404, "\(late)")
            #expect(try await chats(device) == [second])
        }
    }

    @Test("Who opens a session while somebody else does gets what the agent says of it, too")
    func together() async throws {
        try await withFakeAgent(["modes"]) { _, device in
            let chat = try await draft(device)
            async let first = device.execute(.agentOpen(chatID: chat, model: nil))
            async let second = device.execute(.agentOpen(chatID: chat, model: nil))
            for opened in try await [first, second] {
                #expect(opened.result["agent"]?.string?.contains("currentModeId") == true, "\(opened.result)")
            }
        }
    }

    @Test("A session is opened ahead of a prompt, and its mode is for devices that may answer for the owner")
    func settings() async throws {
        try await withFakeAgent(["modes"]) { host, device in
            let chat = try await draft(device)
            let opened = try await device.execute(.agentOpen(chatID: chat, model: nil))
            let facts = try #require(JSONValue(lenient: Array((opened.result["agent"]?.string ?? "").utf8)))
            #expect(facts["modes"]?["currentModeId"] == "ask" && facts["agentInfo"]?["name"] == "fake", "\(facts)")
            let set: (String) -> CommandPayload = {
                .agentConfigure(chatID: chat, method: "session/set_mode", parameters: #"{"modeId":"\#($0)"}"#)
            }
            #expect(try await device.command(set("ask")).status == 200)
            let audit = try await host.server.administration.audit.rows()
            #expect(audit.last?.kind == "agent.configured" && audit.last?.device == device.id, "\(audit)")
            #expect(audit.last?.detail == ["chat": .string(chat), "setting": "mode", "value": "ask"])
            let free = try await device.command(set("yolo"))
            #expect(free.status == 403 && free.body.contains("Only the host's owner"), "\(free)")
            // Other spellings, and what an option does that is not known.
            let option = "session/set_config_option"
            for (method, parameters, status) in [
                ("session/set_mode", #"{"mode_id":"yolo"}"#, 400), (option, #"{"configId":"x"}"#, 400),
                (option, #"{"configId":"auto_approve","value":"on"}"#, 403),
                (option, #"{"configId":"ask_before_edit","value":false}"#, 403),
            ] {
                let payload = CommandPayload.agentConfigure(chatID: chat, method: method, parameters: parameters)
                #expect(try await device.command(payload).status == status, "\(parameters)")
            }
            #expect(try await device.command(.agentOpen(chatID: chat, model: "typo")).status == 400)
            try await withTemporaryDirectory { other in
                var sender = try device.another(in: other)
                try await sender.pair(permissions: [.chatSend])
                #expect(try await sender.command(set("ask")).status == 403)
                #expect(try await sender.command(.agentOpen(chatID: chat, model: nil)).status == 200)
            }
            let wrong = try await device.command(
                .agentConfigure(chatID: chat, method: "session/new", parameters: "{}")
            )
            #expect(wrong.status == 400, "\(wrong)")
            for content in ["", "{}", "[]", "[1]", #"[{"text":"no type"}]"#] + Self.unseen {
                let refused = try await device.command(
                    .chatSend(chatID: chat, prompt: "x", model: nil, allowedTools: nil, content: content)
                )
                #expect(refused.status == 400, "\(content): \(refused)")
            }
            #expect(try await device.command(.agentOpen(chatID: "none", model: nil)).status == 404)
        }
    }
}
