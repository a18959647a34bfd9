package import FoundationEssentials

/// The action that a command asks for (companion-v2, Signed commands).
package enum CommandPayload: Sendable, Hashable {
    case projectCreate(name: String, localPath: String?)
    case sessionCreate(projectID: String)
    /// `isDraft`: it is on no list until it has a prompt, and goes if it gets none.
    case chatCreate(projectID: String, title: String?, isDraft: Bool = false)
    /// `allowedTools`: nil leaves the choice to the host, an empty list allows none. `content`: the prompt as blocks of the
    /// Agent Client Protocol, which are JSON as text: they may have fractions.
    case chatSend(
        chatID: String,
        prompt: String,
        model: String?,
        allowedTools: [String]?,
        images: [TurnImage] = [],
        content: String? = nil
    )
    /// Opens the session of a chat's agent before its next prompt. `model`: which agent, for a new chat.
    case agentOpen(chatID: String, model: String?)
    /// Changes a session of the agent with `session/set_mode` or `session/set_config_option`. `parameters`: JSON as text,
    /// without `sessionId`.
    case agentConfigure(chatID: String, method: String, parameters: String)
    case chatCancel(chatID: String, turnID: String)
    /// `optionID`: nil rejects, in whichever way the agent takes it. `content`: the values of a form; one with a fraction
    /// is a text.
    case approvalDecide(approvalID: String, optionID: String?, content: [String: JSONValue]?)
    /// Removes a session's working tree. `isForced`: also with work that is lost then.
    case sessionRemove(chatID: String, isForced: Bool)

    /// The name of the command on the wire.
    package var type: String {
        switch self {
        case .projectCreate: "project.create"
        case .sessionCreate: "session.create"
        case .chatCreate: "chat.create"
        case .chatSend: "chat.send"
        case .agentOpen: "agent.open"
        case .agentConfigure: "agent.configure"
        case .chatCancel: "chat.cancel"
        case .approvalDecide: "approval.decide"
        case .sessionRemove: "session.remove"
        }
    }

    /// The payload as it goes over the wire: what is nil is left out.
    package var json: JSONValue {
        var members: [String: JSONValue] = ["type": .string(type)]
        switch self {
        case .projectCreate(let name, let localPath):
            members["name"] = .string(name)
            members["localPath"] = localPath.map(JSONValue.string)
        case .sessionCreate(let projectID):
            members["projectId"] = .string(projectID)
        case .chatCreate(let projectID, let title, let isDraft):
            members["projectId"] = .string(projectID)
            members["title"] = title.map(JSONValue.string)
            if isDraft { members["draft"] = .bool(true) }
        case .agentOpen(let chatID, let model):
            members["chatId"] = .string(chatID)
            members["model"] = model.map(JSONValue.string)
        case .agentConfigure(let chatID, let method, let parameters):
            members["chatId"] = .string(chatID)
            members["method"] = .string(method)
            members["parameters"] = .string(parameters)
        case .chatSend(let chatID, let prompt, let model, let allowedTools, let images, let content):
            members["content"] = content.map(JSONValue.string)
            members["chatId"] = .string(chatID)
            members["prompt"] = .string(prompt)
            members["model"] = model.map(JSONValue.string)
            members["allowedTools"] = allowedTools.map { .array($0.map(JSONValue.string)) }
            if !images.isEmpty {
                members["images"] = .array(
                    images.map { ["mimeType": .string($0.mediaType), "data": .string(Base64.encode($0.bytes))] }
                )
            }
        case .chatCancel(let chatID, let turnID):
            members["chatId"] = .string(chatID)
            members["turnId"] = .string(turnID)
        case .approvalDecide(let approvalID, let optionID, let content):
            members["approvalId"] = .string(approvalID)
            members["optionId"] = optionID.map(JSONValue.string)
            members["content"] = content.map(JSONValue.object)
        case .sessionRemove(let chatID, let isForced):
            members["chatId"] = .string(chatID)
            if isForced { members["force"] = .bool(true) }
        }
        return .object(members)
    }

    /// Reads a payload. Members that this version does not know are ignored; `null` counts as absent.
    ///
    /// - Throws: ``SignedCommandError`` with the code `command.bad_shape`, for an unknown `type` too.
    package init(_ json: JSONValue) throws(SignedCommandError) {
        let fields = Fields(json: json)
        switch try fields.text("type") {
        case "project.create":
            self = .projectCreate(name: try fields.text("name"), localPath: try fields.optionalText("localPath"))
        case "session.create":
            self = .sessionCreate(projectID: try fields.text("projectId"))
        case "chat.create":
            self = .chatCreate(
                projectID: try fields.text("projectId"),
                title: try fields.optionalText("title"),
                isDraft: try fields.optionalFlag("draft") ?? false
            )
        case "agent.open":
            self = .agentOpen(chatID: try fields.text("chatId"), model: try fields.optionalText("model"))
        case "agent.configure":
            self = .agentConfigure(
                chatID: try fields.text("chatId"),
                method: try fields.text("method"),
                parameters: try fields.text("parameters")
            )
        case "chat.send":
            self = .chatSend(
                chatID: try fields.text("chatId"),
                prompt: try fields.text("prompt"),
                model: try fields.optionalText("model"),
                allowedTools: try fields.optionalTexts("allowedTools"),
                images: try fields.images("images"),
                content: try fields.optionalText("content")
            )
        case "chat.cancel":
            self = .chatCancel(chatID: try fields.text("chatId"), turnID: try fields.text("turnId"))
        case "approval.decide":
            self = .approvalDecide(
                approvalID: try fields.text("approvalId"),
                optionID: try fields.optionalText("optionId"),
                content: try fields.optionalObject("content")
            )
        case "session.remove":
            self = .sessionRemove(
                chatID: try fields.text("chatId"),
                isForced: try fields.optionalFlag("force") ?? false
            )
        default:
            throw SignedCommandError(.commandBadShape, message: "`payload.type` is not a command that this host knows")
        }
    }

    private struct Fields {
        let json: JSONValue

        func optionalText(_ name: String) throws(SignedCommandError) -> String? {
            switch json[name] {
            case nil, .null: return nil
            case .string(let text): return text
            default: throw error(name, rule: "a text")
            }
        }

        func text(_ name: String) throws(SignedCommandError) -> String {
            guard let text = try optionalText(name) else { throw error(name, rule: "a text") }
            return text
        }

        func optionalFlag(_ name: String) throws(SignedCommandError) -> Bool? {
            switch json[name] {
            case nil, .null: return nil
            case .bool(let flag): return flag
            default: throw error(name, rule: "true or false")
            }
        }

        /// - Returns: An empty list if there are none.
        func images(_ name: String) throws(SignedCommandError) -> [TurnImage] {
            let elements: [JSONValue]
            switch json[name] {
            case nil, .null: return []
            case .array(let list): elements = list
            default: throw error(name, rule: "a list of pictures")
            }
            var images: [TurnImage] = []
            for element in elements {
                guard let type = element["mimeType"]?.string, let bytes = element["data"]?.string.flatMap(Base64.decode)
                else { throw error(name, rule: "a list of pictures, each with mimeType and data in Base64") }
                images.append(TurnImage(bytes: bytes, mediaType: type))
            }
            return images
        }

        func optionalObject(_ name: String) throws(SignedCommandError) -> [String: JSONValue]? {
            switch json[name] {
            case nil, .null: return nil
            case .object(let members): return members
            default: throw error(name, rule: "an object")
            }
        }

        func optionalTexts(_ name: String) throws(SignedCommandError) -> [String]? {
            switch json[name] {
            case nil, .null: return nil
            case .array(let elements):
                let texts = elements.compactMap(\.string)
                guard texts.count == elements.count else { throw error(name, rule: "a list of texts") }
                return texts
            default: throw error(name, rule: "a list of texts")
            }
        }

        private func error(_ name: String, rule: String) -> SignedCommandError {
            SignedCommandError(.commandBadShape, message: "`payload.\(name)` is not \(rule)")
        }
    }
}

/// The answer of `POST /companion/command`.
package struct CommandResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    /// The id of the command that this answers.
    package var commandId: String
    /// Whether the command had been executed before and this is the stored result.
    package var replayed: Bool
    /// The host's clock.
    package var serverTime: Date
    /// The result of the command. The table in companion-v2 lists its members for each type of command.
    package var result: CanonicalJSON

    package init(commandId: String, replayed: Bool, serverTime: Date, result: CanonicalJSON) {
        self.ok = true
        self.commandId = commandId
        self.replayed = replayed
        self.serverTime = serverTime
        self.result = result
    }
}
