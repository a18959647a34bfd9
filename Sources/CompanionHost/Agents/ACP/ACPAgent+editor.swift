package import CompanionWire
import NIOConcurrencyHelpers

/// What an editor on another machine wants of an agent beside turns.
extension ACPAgent {
    package func open(_ turn: AgentTurn) async throws -> JSONValue? {
        let nobody = AgentConversation(emit: { _ in }, notice: { _ in }, keepAlive: {}, ask: { _ in .cancelled })
        let connection: ACPConnection
        let session: String
        do {
            (connection, session) = try await openSession(of: turn, conversation: nobody, mayReplace: false)
        } catch is ACPSessionLost {
            // The next prompt begins another one, and says so.
            return nil
        }
        defer { connection.release() }
        do {
            try await makeAsk(session, over: connection)
        } catch {
            throw failure(error, over: connection)
        }
        return connection.facts(ofSession: session)
    }

    package func facts(ofChat chat: String) -> JSONValue? {
        home(of: chat).flatMap { connection, session in connection.facts(ofSession: session) }
    }

    package func changesMode(ofChat chat: String, method: String, parameters: JSONValue) -> Bool {
        guard method.isSame(as: ACPMessage.setOptionMethod) else { return true }
        // What else an option does is the agent's to say: only these are known to be harmless.
        guard let (connection, session) = home(of: chat), let id = parameters["configId"]?.string,
            let options = connection.facts(ofSession: session)["configOptions"]?.array,
            let option = options.first(where: { $0["id"]?.string?.isSame(as: id) == true })
        else { return true }
        return !["model", "thought_level"].contains { option["category"]?.string?.isSame(as: $0) == true }
    }

    package func configure(chat: String, method: String, parameters: JSONValue) async throws -> JSONValue {
        guard let (connection, session) = home(of: chat), connection.take() else {
            throw AgentError(message: "\(launch.name) has no open session in this chat")
        }
        defer { connection.release() }
        let value = parameters[method.isSame(as: ACPMessage.setOptionMethod) ? "value" : "modeId"]
        // A switch says by its name what it allows.
        let word = value == true ? parameters["configId"]?.string : value?.string
        if !launch.allowsBypass, let word,
            (connection.modes(ofSession: session) ?? ACPModes(current: word))
                .asksNothing(in: word, more: launch.bypassModes)
        {
            throw AgentError(
                message: "\(launch.name) would ask nothing with this setting. Its host does not allow that"
            )
        }
        do {
            let call = ACPCall.configure(method: method, parameters: parameters, session: session)
            return try await connection.call(call, within: limits.session)
        } catch {
            throw failure(error, over: connection)
        }
    }

    /// The process that has a chat's session open, and the session's id.
    private func home(of chat: String) -> (ACPConnection, String)? {
        for connection in processes.withLockedValue({ $0.connections }) {
            if let session = connection.session(ofChat: chat) { return (connection, session.id) }
        }
        return nil
    }
}

extension ACPConnection {
    /// What the agent has said of itself and of a session, as members of the Agent Client Protocol; `updates` are the last
    /// ones that hold.
    func facts(ofSession session: String) -> JSONValue {
        state.withLockedValue { state in
            let facts = state.facts[ByteText(session)]
            var members: [String: JSONValue] = [:]
            for name in ["agentInfo", "agentCapabilities", "authMethods"] { members[name] = state.introduction?[name] }
            for name in ["modes", "models", "configOptions", "_meta"] { members[name] = facts?.opened[name] }
            members["updates"] = .array((facts?.updates ?? [:]).sorted { $0.key < $1.key }.map(\.value))
            return .object(members.filter { $0.value != .null })
        }
    }
}

/// The blocks of a prompt as an agent takes them.
enum ACPPrompt {
    /// Blocks of a prompt.
    private static let most = 200

    /// Reads the blocks that a device has sent.
    ///
    /// - Throws: ``HostError`` for what is no list of blocks.
    static func blocks(_ text: String) throws(HostError) -> [JSONValue] {
        guard let blocks = JSONValue(lenient: Array(text.utf8))?.array, (1...most).contains(blocks.count),
            blocks.allSatisfy({ $0["type"]?.string != nil })
        else { throw HostError(.requestInvalid, "content is not JSON with blocks of a prompt") }
        return blocks
    }

    /// The blocks for an agent, with files that it does not take as text.
    ///
    /// - Throws: ``AgentError`` for a picture or a sound that it does not take.
    static func fitted(_ blocks: [JSONValue], to info: ACPAgentInfo, name: String) throws(AgentError) -> [JSONValue] {
        var fitted: [JSONValue] = []
        for block in blocks {
            switch block["type"]?.string {
            case "image" where !info.takesImages, "audio" where !info.takesAudio:
                let what = block["type"]?.string == "image" ? "pictures" : "sounds"
                throw AgentError(message: "\(name) takes no \(what): the prompt was not sent")
            case "resource" where !info.takesFiles:
                let uri = block["resource"]?["uri"]?.string ?? "a file"
                let text = block["resource"]?["text"]?.string ?? "(not text)"
                fitted.append(["type": "text", "text": .string("\(uri):\n\n\(text)\n")])
            default: fitted.append(block)
            }
        }
        return fitted
    }
}
