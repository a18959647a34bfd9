import CompanionWire
import Crypto
import FoundationEssentials
import GRDB
import Identity
import Logging

/// Judges signed commands and executes each of them once (companion-v2, Signed commands).
///
/// A command's id, nonce, result and effect in the database are stored in one transaction, which is on the disk before
/// the answer: neither a crash nor a power cut takes back what a device was told.
struct SignedCommandService: Sendable {
    /// Seconds that a command's `issuedAt` may be ahead of the host's clock.
    static let maximumLead: TimeInterval = 60

    let services: HostServices
    /// Makes or finds the directory of a project that a device asks for by a name and, perhaps, a path.
    let makeProject: @Sendable (_ name: String, _ localPath: String?) async throws -> ProjectMaker.NewProject
    let ledger: CommandLedger
    private let serial = KeyedLock()

    /// - Parameter makeProject: Default: nil, ``HostServices/maker``.
    init(
        _ services: HostServices,
        makeProject: (@Sendable (String, String?) async throws -> ProjectMaker.NewProject)? = nil
    ) {
        self.services = services
        ledger = CommandLedger(database: services.database, gate: services.gate, quotas: services.quotas)
        self.makeProject =
            makeProject ?? { [maker = services.maker, catalog = services.store.catalog] in
                try await maker.make(name: $0, localPath: $1, catalog: catalog)
            }
    }

    /// Executes a command, or gives the stored result again.
    ///
    /// - Parameters:
    ///   - body: The request's body, as it came.
    ///   - admit: Throws if the command may not come from where it came from. Called once it is known who signed it.
    /// - Throws: ``SignedCommandError`` for the shape, ``HostError`` with the code of the first check that
    ///   failed.
    func execute(
        _ body: [UInt8],
        admit: (_ payload: CommandPayload, _ device: String) async throws -> Void = { _, _ in }
    ) async throws -> CommandResponse {
        let start = ContinuousClock.now
        var device: String?
        var type: String?
        do {
            let command = try SignedCommand.parse(body)
            let payload = try CommandPayload(command.payload)
            type = payload.type
            try CommandLimits.check(payload)
            device = try services.gate.activeDevice(command.deviceId).id
            let digest = try check(command)
            try await admit(payload, command.deviceId)
            await services.gate.pruneIfDue()
            let outcome = try await perform(payload, of: command, digest: digest)
            log(outcome.isReplay ? "replayed" : "executed", type: type, device: device, start: start)
            return CommandResponse(
                commandId: command.commandId,
                replayed: outcome.isReplay,
                serverTime: services.clock.now(),
                result: outcome.result
            )
        } catch {
            let code = HostError(describing: error)?.code ?? .internal
            log("refused", code: code, type: type, device: device, start: start)
            throw error
        }
    }

    /// Checks audience, signature and time.
    ///
    /// - Returns: SHA-256 over what was signed.
    private func check(_ command: SignedCommand) throws -> [UInt8] {
        guard command.audience == services.identity.id else {
            throw HostError(.commandWrongAudience, "The command is for another host")
        }
        let signed = command.signedBytes
        let device = try services.gate.activeDevice(command.deviceId)
        guard let key = Base64.decode(device.publicKey),
            Ed25519.verify(signature: command.signatureBytes, message: signed, publicKey: key)
        else {
            throw HostError(.commandBadSignature, "The signature is not the device's")
        }
        let now = services.clock.now()
        let lifetime = command.expiresAt.timeIntervalSince(command.issuedAt)
        let maximum = TimeInterval(SignedCommand.maximumLifetime.components.seconds)
        // A thousandth for what is lost when times are read.
        guard lifetime > 0, lifetime <= maximum + 0.001,
            command.issuedAt.timeIntervalSince(now) <= Self.maximumLead + 0.001
        else {
            throw HostError(
                .commandBadTime,
                "The command lives for more than 300 s, or is from the future: set issuedAt by serverTime"
            )
        }
        guard command.expiresAt > now else {
            throw HostError(.commandExpired, "The command has expired: sign a new one")
        }
        return Array(SHA256.hash(data: signed))
    }

    private func perform(
        _ payload: CommandPayload,
        of command: SignedCommand,
        digest: [UInt8]
    ) async throws -> CommandLedger.Outcome {
        switch payload {
        case .projectCreate(let name, let localPath):
            return try await serial.run(command.commandId) {
                // Of two at the same time one finds the other's.
                try await serial.run("project") {
                    try await createProject(name: name, localPath: localPath, command: command, digest: digest)
                }
            }
        case .sessionCreate(let projectID):
            let chat = try newChat(projectID: projectID, title: nil)
            let result = try CanonicalJSON(["sessionId": .string(chat.id)])
            return try await createChat(chat, result: result, command: command, digest: digest)
        case .agentOpen(let chatID, let model):
            return try await serial.run(command.commandId) {
                try await openAgent(chatID: chatID, model: model, command: command, digest: digest)
            }
        case .agentConfigure(let chatID, let method, let parameters):
            return try await serial.run(command.commandId) {
                try await configureAgent(
                    chatID: chatID,
                    method: method,
                    parameters: parameters,
                    command: command,
                    digest: digest
                )
            }
        case .chatCreate(let projectID, let title, let isDraft):
            let chat = try newChat(projectID: projectID, title: title)
            guard !isDraft else { return try await createDraft(chat, command: command, digest: digest) }
            var shown = chat
            if shown.title.isEmpty { shown.title = CompanionHostStore.untitled }
            let result = try CanonicalJSON(encoding: shown)
            return try await createChat(chat, result: result, command: command, digest: digest)
        case .chatSend:
            // The turn begins after the transaction: a repetition meanwhile has to wait for it.
            return try await serial.run(command.commandId) {
                try await send(payload, command: command, digest: digest)
            }
        case .chatCancel(let chatID, let turnID):
            return try await serial.run(command.commandId) {
                try await cancel(turnID: turnID, chatID: chatID, command: command, digest: digest)
            }
        case .sessionRemove(let chatID, let isForced):
            return try await serial.run(command.commandId) {
                try await removeSession(chatID: chatID, isForced: isForced, command: command, digest: digest)
            }
        case .approvalDecide(let approvalID, let optionID, let content):
            guard content == nil || optionID == ApprovalOption.accept.id else {
                throw HostError(.requestInvalid, "Values go with the option accept alone")
            }
            let answer = content.map { ApprovalAnswer.filled($0) } ?? optionID.map { .option($0) }
            return try await decide(
                approvalID,
                with: answer ?? .reject(always: false, reason: nil),
                command: command,
                digest: digest
            )
        }
    }

    private func log(
        _ outcome: String,
        code: CompanionErrorCode? = nil,
        type: String?,
        device: String?,
        start: ContinuousClock.Instant
    ) {
        let level: Logger.Level = code == nil ? .info : .notice
        guard services.logger.logLevel <= level else { return }
        services.logger.log(
            level: level,
            "\(type ?? "command")",
            metadata: .event("command", outcome: outcome, code: code?.rawValue, latency: .now - start, device: device)
        )
    }
}

extension SignedCommandService {
    /// Opens the session of a chat's agent.
    func openAgent(
        chatID: String,
        model: String?,
        command: SignedCommand,
        digest: [UInt8]
    ) async throws -> CommandLedger.Outcome {
        try await ledger.noting(command, digest: digest, permission: .chatSend) {
            try await services.chats.prepare(chatID)
            guard let projectID = try await services.store.projectID(ofChat: chatID),
                let project = services.store.catalog.project(id: projectID)
            else { throw HostError(.requestNotFound, "Unknown chat") }
            if let model, services.agent.owner(of: model) == nil { throw HostError(.requestInvalid, "Unknown model") }
            let chosen = try services.agent.model(asked: model, kept: try await services.store.model(ofChat: chatID))
            let agent = services.agent.member(answering: chosen ?? "")
            guard agent.isAvailable() else { throw HostError.agentUnavailable }
            if let chosen { try await services.store.choose(model: chosen, inChat: chatID) }
            let stored = try await services.store.agentSession(ofChat: chatID)
            var turn = AgentTurn(chatID: chatID, prompt: "", directory: stored?.directory ?? project.path)
            (turn.project, turn.model) = (project.path, chosen ?? "")
            var facts: JSONValue?
            // A working tree is made for the first prompt.
            if stored != nil || !services.configuration.usesWorktrees {
                facts = try await Self.asking { [turn] in try await open(turn, of: agent) }
            }
            let members: [String: JSONValue?] = [
                "directory": .string(turn.directory), "projectId": .string(projectID),
                "turnId": services.turns.runningTurn(chatID: chatID).map { .string($0) },
                // As text: it may have fractions.
                "agent": facts.map { .string(String(decoding: $0.json, as: UTF8.self)) },
            ]
            return try CanonicalJSON(.object(members.compactMapValues(\.self)))
        }
    }

    /// How often, and how far apart, is looked whether somebody else has opened a session.
    private static let (mostLooks, look) = (80, Duration.milliseconds(100))

    /// Opens the session of a chat while no turn runs in it.
    ///
    /// - Returns: What the agent says of it, also where another device opens it just now, or a turn runs.
    private func open(_ turn: AgentTurn, of agent: any Agent) async throws -> JSONValue? {
        for _ in 0..<Self.mostLooks {
            let opened = try await services.turns.pausing(chatID: turn.chatID) { try await agent.open(turn) }
            if let opened { return opened }
            if let facts = agent.facts(ofChat: turn.chatID) { return facts }
            guard !services.turns.isBusy(chatID: turn.chatID) else { return nil }
            try await Task.sleep(for: Self.look)
        }
        return nil
    }

    /// Changes the settings of the session of a chat's agent.
    func configureAgent(
        chatID: String,
        method: String,
        parameters: String,
        command: SignedCommand,
        digest: [UInt8]
    ) async throws -> CommandLedger.Outcome {
        guard let setting = JSONValue(lenient: Array(parameters.utf8)).flatMap({ Self.setting($0, for: method) }) else {
            throw HostError(.requestInvalid, "parameters is not JSON with the members of this method")
        }
        let model = try await services.store.model(ofChat: chatID)
        let agent = services.agent.member(answering: model ?? services.agent.models.first?.id ?? "")
        guard agent.facts(ofChat: chatID) != nil else {
            throw HostError(.requestInvalid, "The agent has no open session in this chat")
        }
        // Whoever decides how freely the agent works could answer its questions as well.
        let leave = agent.leave(of: setting, ofChat: chatID)
        let permission: CompanionPermission = leave == .nothing ? .chatSend : .approve
        return try await ledger.noting(command, digest: digest, permission: permission) {
            guard leave != .lasting || services.configuration.devicesMayAlways else {
                throw HostError(
                    .permissionDenied,
                    "Only the host's owner may choose this setting: the agent may ask less with it. "
                        + "To let devices do it: pairtool host --always-by devices"
                )
            }
            let answer = try await Self.asking {
                try await agent.configure(chat: chatID, method: method, parameters: setting)
            }
            if leave != .nothing { try await note(setting, ofChat: chatID, by: command.deviceId) }
            return try CanonicalJSON(["answer": .string(String(decoding: answer.json, as: UTF8.self))])
        }
    }

    /// The members of a setting that agents know; nil where one is missing.
    private static func setting(_ given: JSONValue, for method: String) -> JSONValue? {
        guard method.isSame(as: ACPMessage.setOptionMethod) else {
            return given["modeId"]?.string.map { ["modeId": .string($0)] }
        }
        guard let id = given["configId"]?.string, let value = given["value"] else { return nil }
        var setting: [String: JSONValue] = ["configId": .string(id), "value": value]
        setting["type"] = given["type"]?.string.map { .string($0) }
        switch value {
        case .string, .bool: return .object(setting)
        default: return nil
        }
    }

    /// Writes down that a device has set how freely an agent works.
    private func note(_ setting: JSONValue, ofChat chatID: String, by device: String) async throws {
        let value = setting["modeId"] ?? setting["value"] ?? .null
        let detail: JSONValue = [
            "chat": .string(chatID), "setting": .string(setting["configId"]?.string ?? "mode"),
            "value": .string(value.string ?? String(decoding: value.json, as: UTF8.self)),
        ]
        let now = services.clock.now()
        try await ledger.database.write(durably: true) { database in
            try AuditLog.append(.agentConfigured, device: device, detail: detail, at: now, in: database)
        }
    }

    /// Asks an agent, whose refusals devices get as the host's.
    private static func asking<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as AgentError {
            throw HostError(error.code ?? .requestInvalid, error.message)
        }
    }
}
