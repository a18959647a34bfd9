import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent

/// Sessions of the editor: chats of the host.
extension EditorBridge {
    /// Chats of one page of a list.
    private static let pageSize = 100

    private func project(_ parameters: JSONValue, at host: HostSession) async throws -> EditorProject {
        guard let directory = parameters["cwd"]?.string, directory.begins(with: "/") else {
            throw ACPRefusal(code: ACPRefusal.invalidParameters, message: "cwd is not an absolute path")
        }
        return try EditorProject.find(
            at: directory,
            named: choices.project,
            in: try await host.projects.mergedProjects(),
            known: try EditorProjects(paths: environment.paths).entries(),
            hostID: host.host.id,
            hostName: host.host.name,
            home: EditorPaths.normal(FileManager.default.homeDirectoryForCurrentUser.path)
        )
    }

    func newSession(_ parameters: JSONValue, at host: HostSession) async throws -> Answer {
        let project = try await project(parameters, at: host)
        // Before there is a chat for it.
        let model = choices.agent == nil ? nil : try await host.model(choices.agent)
        let id: String
        if let agents = host.offer.agents {
            id = try await agents.createDraft(projectID: project.project.id).id
        } else {
            id = try await host.turns.makeChat(projectID: project.project.id, title: "")
        }
        let session = Session(project: project, model: model)
        return try await opened(id, session, at: host, parameters)
    }

    /// - Parameter tellsMessages: Whether the editor wants what was said before.
    func openSession(_ parameters: JSONValue, tellsMessages: Bool, at host: HostSession) async throws -> Answer {
        guard let id = parameters["sessionId"]?.string else {
            throw ACPRefusal(code: ACPRefusal.invalidParameters, message: "sessionId is missing")
        }
        let project = try await project(parameters, at: host)
        let session = Session(project: project, model: sessions[ByteText(id)]?.model)
        var answer = try await opened(id, session, at: host, parameters)
        guard tellsMessages else {
            answer.turn = nil
            return answer
        }
        var isAnswered = true
        for try await message in try host.chats.messages(chatID: id) {
            isAnswered = message.role != .user
            guard !message.text.isEmpty else { continue }
            let kind = message.role == .user ? "user_message_chunk" : "agent_message_chunk"
            tell(id, EditorFrames.chunk(kind, message.text, message: message.id))
        }
        // A turn that has ended meanwhile was told with the messages.
        if isAnswered { answer.turn = nil }
        return answer
    }

    /// Opens the agent's session of a chat, and keeps it for the editor.
    private func opened(
        _ id: String,
        _ session: Session,
        at host: HostSession,
        _ parameters: JSONValue
    ) async throws -> Answer {
        var (session, facts, turn) = (session, JSONValue?.none, String?.none)
        if let agents = host.offer.agents {
            let agent = try await agents.openAgent(chatID: id, model: session.model)
            if let project = agent.projectID, !session.project.project.ids.contains(where: { $0.isSame(as: project) }) {
                throw ACPRefusal(
                    code: ACPRefusal.invalidParameters,
                    message: "This session is in another project of \(host.host.name) than "
                        + session.project.project.project.name
                )
            }
            (facts, turn) = (agent.facts, agent.turnID)
            session.take(agent)
        }
        sessions[ByteText(id)] = session
        var result: [String: JSONValue] = parameters["sessionId"] == nil ? ["sessionId": .string(id)] : [:]
        for name in ["modes", "models", "configOptions", "_meta"] { result[name] = facts?[name] }
        var updates: [JSONValue] = []
        if parameters["mcpServers"]?.array?.isEmpty == false {
            // They are commands of another machine.
            let text = "The editor's MCP servers stay here: the agent on \(host.host.name) does not get them.\n"
            updates.append(EditorFrames.chunk("agent_thought_chunk", text))
        }
        return Answer(
            result: .object(result),
            session: id,
            state: Self.updates(in: facts),
            updates: updates,
            turn: turn
        )
    }

    private static func updates(in facts: JSONValue?) -> [JSONValue] {
        (facts?["updates"]?.array ?? []).filter { update in
            update["sessionUpdate"]?.string.map(ACPMessage.stateUpdates.contains) == true
        }
    }

    /// The state of a session a moment after it was opened. Of one that is prompted meanwhile the turn tells the rest.
    ///
    /// - Parameter state: The state when it was opened.
    func current(_ state: [JSONValue], of id: String) async -> [JSONValue] {
        guard sessions[ByteText(id)]?.hasWords == true else { return state }
        var facts: JSONValue?
        if sessions[ByteText(id)]?.isPrompted == false {
            facts = try? await withHost { try await $0.offer.agents?.openAgent(chatID: id, model: nil).facts }
        }
        guard let session = sessions[ByteText(id)] else { return [] }
        if let facts, !session.isPrompted { return Self.updates(in: facts) }
        // The editor knows what it has set.
        return session.isChanged ? [] : state
    }

    /// Asks again where the agent of a session works: some hosts make a working tree for the first prompt.
    ///
    /// - Returns: nil where that is known already.
    func reopened(_ id: String, at host: HostSession) async -> EditorPaths? {
        guard let agents = host.offer.agents, let known = sessions[ByteText(id)], known.sendsContent, !known.hasWords,
            let agent = try? await agents.openAgent(chatID: id, model: nil), agent.facts != nil
        else { return nil }
        sessions[ByteText(id)]?.take(agent)
        return sessions[ByteText(id)]?.project.paths
    }

    func list(_ parameters: JSONValue, at host: HostSession) async throws -> JSONValue {
        var listed: [(chat: CompanionChat, directory: String)] = []
        if let directory = parameters["cwd"]?.string {
            let project = try await project(parameters, at: host)
            listed = try await host.projects.chats(of: project.project).map { ($0, directory) }
        } else {
            let known = try EditorProjects(paths: environment.paths).entries().filter { $0.host == host.host.id }
            for project in try await host.projects.mergedProjects() where !project.project.localPath.isEmpty {
                let place = known.first { $0.project.isSame(as: project.project.localPath) }?.local
                for chat in try await host.projects.chats(of: project) {
                    listed.append((chat, place ?? project.project.localPath))
                }
            }
            listed.sort { ($0.chat.lastUpdatedAt ?? .distantPast) > ($1.chat.lastUpdatedAt ?? .distantPast) }
        }
        let start = min(max(parameters["cursor"]?.string.flatMap { Int($0) } ?? 0, 0), listed.count)
        let end = min(start + Self.pageSize, listed.count)
        var result: [String: JSONValue] = [
            "sessions": .array(
                listed[start..<end].map { chat, directory in
                    var members: [String: JSONValue] = [
                        "sessionId": .string(chat.id), "cwd": .string(directory), "title": .string(chat.title),
                    ]
                    members["updatedAt"] = chat.lastUpdatedAt.map { .string(CompanionTimestamp.string(from: $0)) }
                    return .object(members)
                }
            )
        ]
        if end < listed.count { result["nextCursor"] = .string("\(end)") }
        return .object(result)
    }

    func configure(_ method: String, _ parameters: JSONValue) async throws -> JSONValue {
        let (id, _) = try session(parameters)
        sessions[ByteText(id)]?.isChanged = true
        var setting = parameters.object ?? [:]
        setting["sessionId"] = nil
        return try await withHost { [setting] host in
            guard let agents = host.offer.agents else {
                throw ACPRefusal(code: ACPRefusal.unknownMethod, message: "\(host.host.name) has no such settings")
            }
            return try await agents.configureAgent(chatID: id, method: method, parameters: .object(setting))
        }
    }
}
