package import CompanionWire
import NIOConcurrencyHelpers

/// The wishes of an editor on another machine beside turns.
extension ACPAgent {
    /// Bytes of an answer to a change of settings that is passed on.
    private static let mostOfAnswer = 512 << 10

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

    package func leave(of setting: JSONValue, ofChat chat: String) -> SettingLeave {
        guard let (connection, session) = home(of: chat) else { return .lasting }
        let modes = connection.modes(ofSession: session)
        if let mode = setting["modeId"]?.string { return Self.leave(ofMode: mode, in: modes) }
        // What else an option does is the agent's to say: only these are known to be harmless.
        guard let id = setting["configId"]?.string else { return .lasting }
        if case .option(let own)? = modes?.setter, own.isSame(as: id), let mode = setting["value"]?.string {
            return Self.leave(ofMode: mode, in: modes)
        }
        let category = option(id, in: connection.facts(ofSession: session))?["category"]?.string
        return ["model", "thought_level"].contains { category?.isSame(as: $0) == true } ? .nothing : .lasting
    }

    private static func leave(ofMode mode: String, in modes: ACPModes?) -> SettingLeave {
        modes?.asks(in: mode) == true ? .asking : .lasting
    }

    /// An option of a session, with its name and choices.
    private func option(_ id: String, in facts: JSONValue) -> JSONValue? {
        let options = facts["configOptions"]?.array ?? []
        return options.first { $0["id"]?.string?.isSame(as: id) == true }
    }

    package func configure(chat: String, method: String, parameters: JSONValue) async throws -> JSONValue {
        guard let (connection, session) = home(of: chat), connection.take() else {
            throw AgentError(message: "\(launch.name) has no open session in this chat")
        }
        defer { connection.release() }
        let modes = connection.modes(ofSession: session)
        let words = words(of: parameters, modes: modes, in: connection.facts(ofSession: session))
        if !launch.allowsBypass,
            words.contains(where: { word in
                (modes ?? ACPModes(current: word)).asksNothing(in: word, more: launch.bypassModes)
            })
        {
            throw AgentError(
                message: "\(launch.name) would ask nothing with this setting. Its host does not allow that"
            )
        }
        do {
            let call = ACPCall.configure(method: method, parameters: parameters, session: session)
            // An agent that waits for a person may answer late.
            let answer = try await connection.call(call, isVital: false, within: limits.session)
            return answer.size <= Self.mostOfAnswer ? answer : [:]
        } catch {
            throw failure(error, over: connection)
        }
    }

    /// The words that say what a setting allows: ids and names of the value and, but for modes, of its option.
    private func words(of setting: JSONValue, modes: ACPModes?, in facts: JSONValue) -> [String] {
        if let mode = setting["modeId"]?.string { return [mode] }
        guard let id = setting["configId"]?.string else { return [] }
        let known = option(id, in: facts)
        let own = [id, known?["name"]?.string ?? id]
        guard let value = setting["value"]?.string else {
            // A switch.
            return setting["value"] == true ? own : []
        }
        var choices: [JSONValue] = []
        // They may be in groups.
        for choice in known?["options"]?.array ?? [] { choices += choice["options"]?.array ?? [choice] }
        let chosen = choices.first { $0["value"]?.string?.isSame(as: value) == true }
        let words = [value, chosen?["name"]?.string ?? value]
        if case .option(let mode)? = modes?.setter, mode.isSame(as: id) { return words }
        return words + own
    }

    /// The process that has a chat's session open, and the session's id.
    private func home(of chat: String) -> (ACPConnection, String)? {
        for connection in processes.withLockedValue({ $0.connections }) {
            if let session = connection.session(ofChat: chat) { return (connection, session.id) }
        }
        return nil
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
            blocks.allSatisfy(isKnown)
        else { throw HostError(.requestInvalid, "content is not JSON with blocks of a prompt") }
        let pictures = blocks.filter { $0["type"] == "image" }
        guard pictures.count <= TurnImage.mostPictures, pictures.allSatisfy(isPicture) else {
            throw HostError(
                .requestInvalid,
                "content has too many pictures, or one that is too large or of another type"
            )
        }
        return blocks
    }

    /// Whether a block is of a kind whose text people see, too.
    private static func isKnown(_ block: JSONValue) -> Bool {
        switch block["type"]?.string {
        case "text", "image", "audio", "resource_link": true
        // What is not text is nothing that a person could look at.
        case "resource": block["resource"]?["text"]?.string != nil
        default: false
        }
    }

    private static func isPicture(_ block: JSONValue) -> Bool {
        guard let data = block["data"]?.string, data.utf8.count <= TurnImage.mostBytes / 3 * 4 + 4,
            let bytes = Base64.decode(data)
        else { return false }
        return bytes.count <= TurnImage.mostBytes && TurnImage(file: bytes) != nil
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
