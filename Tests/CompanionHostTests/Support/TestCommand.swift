import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity

/// A command whose parts a test may choose.
struct TestCommand {
    var payload: CommandPayload
    var audience: String
    var id = UUID()
    var nonce = SecureRandom.bytes(16)
    var now: Date
    var lifetime: TimeInterval = 60
    var deviceID: String?
    var keys: SecureKeyStore?

    func body() throws -> [UInt8] { try signed().body }

    func signed() throws -> SignedCommand {
        guard let keys else { throw TestFailure("no key") }
        return try SignedCommand(
            commandId: id,
            issuedAt: now,
            expiresAt: now.addingTimeInterval(lifetime),
            deviceId: try deviceID ?? keys.identity().deviceID,
            audience: audience,
            nonce: nonce,
            payload: payload,
            sign: keys.sign
        )
    }
}

extension TestDevice {
    func hostID() async throws -> String {
        guard let id = try await get("/health").decoded(CompanionHealthResponse.self).hostId else {
            throw TestFailure("no host id")
        }
        return id
    }

    func sign(
        _ payload: CommandPayload,
        id: UUID = UUID(),
        nonce: [UInt8] = SecureRandom.bytes(16),
        now: Date = Date()
    ) async throws -> SignedCommand {
        var command = TestCommand(payload: payload, audience: try await hostID(), id: id, nonce: nonce, now: now)
        command.keys = keys
        return try command.signed()
    }

    func send(_ command: SignedCommand) async throws -> Reply {
        try await send("POST", "/companion/command", body: command.body)
    }

    func command(_ payload: CommandPayload, now: Date = Date()) async throws -> Reply {
        try await send(try await sign(payload, now: now))
    }

    func projects() async throws -> [CompanionProject] {
        try await get("/companion/projects").decoded(CompanionProjectsResponse.self).projects.elements
    }

    /// A new chat in the first project.
    func newChat() async throws -> CompanionChat {
        guard let project = try await projects().first else { throw TestFailure("no project") }
        return try await command(.chatCreate(projectID: project.id, title: nil)).result()
    }

    /// Sends a prompt and reads all of the answer.
    @discardableResult
    func ask(_ prompt: String, chat: String) async throws -> Reply {
        let sent = try await command(.chatSend(chatID: chat, prompt: prompt, model: nil, allowedTools: nil))
        return try await waitForTurn(sent, chat: chat)
    }

    @discardableResult
    func waitForTurn(_ sent: Reply, chat: String) async throws -> Reply {
        guard let turn = try sent.value()["turnId"]?.string else { throw TestFailure("no turn: \(sent.body)") }
        return try await get("/companion/chats/\(chat)/turns/\(turn)/events")
    }
}

extension Reply {
    /// What a command came to.
    func outcome() throws -> CommandResponse {
        guard status == 200 else { throw Refusal(reply: self) }
        return try decoded(CommandResponse.self)
    }

    func value() throws -> CanonicalJSON { try outcome().result }

    func result<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value { try value().decode() }
}
