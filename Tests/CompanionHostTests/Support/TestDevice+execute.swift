import AsyncHTTPClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import NIOCore
import NIOHTTP1

extension TestDevice {
    /// Sends a signed command and waits for its result.
    func execute(_ payload: CommandPayload) async throws -> CommandResponse {
        let reply = try await command(payload)
        guard reply.status == 200 else { throw TestFailure("\(reply.status): \(reply.body)") }
        return try reply.decoded(CommandResponse.self)
    }

    /// Sends a signed command.
    func command(_ payload: CommandPayload) async throws -> Reply {
        let health = try await get("/health").decoded(CompanionHealthResponse.self)
        let command = try SignedCommand.make(
            payload: payload,
            audience: health.hostId ?? "",
            key: keys,
            now: health.serverTime ?? Date()
        )
        return try await send("POST", "/companion/command", body: command.body)
    }

    /// The id of the first project that the host lists.
    func firstProject() async throws -> String {
        let projects = try await get("/companion/projects").decoded(CompanionProjectsResponse.self).projects.elements
        guard let project = projects.first else { throw TestFailure("the host lists no project") }
        return project.id
    }

    /// Starts a turn in a new chat.
    func startTurn(_ prompt: String = "go", model: String = "command") async throws -> (chat: String, turn: String) {
        let chat = try await execute(.chatCreate(projectID: try await firstProject(), title: nil)).result["id"]?.string
        guard let chat else { throw TestFailure("the host made no chat") }
        let sent = try await execute(.chatSend(chatID: chat, prompt: prompt, model: model, allowedTools: nil))
        guard let turn = sent.result["turnId"]?.string else { throw TestFailure("the host began no turn") }
        return (chat, turn)
    }

    /// Opens the stream of a turn's events over HTTPS.
    func events(chat: String, turn: String, after id: Int? = nil) async throws -> Reply {
        try await send(
            "GET",
            "/companion/chats/\(chat)/turns/\(turn)/events",
            headers: id.map { [("Last-Event-ID", "\($0)")] } ?? []
        )
    }

    /// Sends a GET and hands out the body as it comes.
    func open(_ path: String) async throws -> HTTPClientResponse.Body {
        var request = HTTPClientRequest(url: "https://127.0.0.1:\(host.tlsPort)\(path)")
        request.headers.add(name: ProtocolVersion.header, value: "2")
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        let response = try await http.execute(request, timeout: .seconds(600))
        guard response.status == .ok else { throw TestFailure("\(response.status)") }
        return response.body
    }
}
