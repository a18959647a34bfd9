import CompanionWire

/// A report of an agent about a session while it works (`session/update`).
enum ACPUpdate: Sendable, Hashable {
    case userMessage(ACPContent)
    case agentMessage(ACPContent)
    case agentThought(ACPContent)
    /// A new call, or a change of one.
    case tool(ACPToolCall)
    case plan([AgentPlanStep])
    case mode(String)
    case modes(ACPModes)
    /// Tokens in the agent's context.
    case usage(Int64)
    /// The agent is done with a page that was opened (`elicitation/complete`).
    case linkDone
    /// A kind that shows nothing, such as the commands and the title of a session (a chat has its own title), or that
    /// this version does not know.
    case other(String)

    /// Steps of a plan and places of a tool that are kept.
    fileprivate static let maximumEntries = 200
    /// Bytes of an id of a tool.
    fileprivate static let maximumID = 256

    init(_ value: JSONValue) {
        let kind = value["sessionUpdate"]?.string ?? ""
        let content = value["content"].map(ACPContent.init) ?? .none
        self =
            switch kind {
            case "user_message_chunk": .userMessage(content)
            case "agent_message_chunk": .agentMessage(content)
            case "agent_thought_chunk": .agentThought(content)
            case "tool_call", "tool_call_update": ACPToolCall(value).map(Self.tool) ?? .other(kind)
            case "plan":
                .plan((value["entries"]?.array ?? []).prefix(Self.maximumEntries).compactMap(AgentPlanStep.init))
            case "current_mode_update":
                (value["currentModeId"] ?? value["modeId"])?.string.map(Self.mode) ?? .other(kind)
            case "config_option_update": ACPModes(value).map(Self.modes) ?? .other(kind)
            case "usage_update":
                value["used"]?.integer.map(Self.usage) ?? .other(kind)
            default: .other(kind)
            }
    }
}

/// A call of a tool, or a change of one, in which nil leaves a value as it was.
struct ACPToolCall: Sendable, Hashable {
    var id: String
    /// Whether the agent marks it as a new call (`tool_call`).
    var begins: Bool
    var title: String?
    var kind: String?
    var status: ToolReport.Status?
    var locations: [AgentLocation]?
    var diffs: [AgentDiff]?
    /// The text of its content.
    var output: String?
    /// Content of kinds that this version does not know.
    var others: [JSONValue]?
    /// The ids of the agent's terminals that it writes to.
    var terminals: [String]?
    /// Its result for the agent's model: a text or any other JSON.
    var rawOutput: JSONValue?
    var input: JSONValue?

    init?(_ value: JSONValue) {
        guard let id = value["toolCallId"]?.string, id.utf8.count <= ACPUpdate.maximumID else { return nil }
        self.id = id
        begins = value["sessionUpdate"]?.string == "tool_call"
        title = value["title"]?.string
        kind = value["kind"]?.string
        status = value["status"]?.string.flatMap(ToolReport.Status.init)
        if let places = value["locations"]?.array {
            var locations = places.prefix(ACPUpdate.maximumEntries).compactMap { location in
                location["path"]?.string.map { path in
                    AgentLocation(path: path.agentPath, line: location["line"]?.integer.map(Int.init))
                }
            }
            if places.count > ACPUpdate.maximumEntries { locations.append(AgentLocation(path: "".agentPath)) }
            self.locations = locations
        }
        if let content = value["content"]?.array {
            let changes = content.filter { $0["type"]?.string == "diff" }
            diffs = changes.map { item in
                let path = (item["path"]?.string ?? "").agentPath
                var diff = AgentDiff(path: path, old: item["oldText"]?.string, new: item["newText"]?.string ?? "")
                // However many there are, they take no more time than one.
                diff.comparedLines /= changes.count
                return diff
            }
            others = content.filter { item in
                switch item["type"]?.string {
                case "diff", "terminal": false
                case "content": item["content"].map { ACPContent($0) == ACPContent.none } ?? true
                default: true
                }
            }
            output = content.compactMap { item in
                item["type"]?.string == "content" ? item["content"].map { ACPContent($0).text } : nil
            }.joined(separator: "\n")
            terminals = content.prefix(ACPUpdate.maximumEntries).compactMap { item in
                item["type"]?.string == "terminal" ? item["terminalId"]?.string?.oneLine(atMost: 100) : nil
            }
        }
        if let output = value["rawOutput"], output != .null { rawOutput = output }
        if let input = value["rawInput"], input != .null { self.input = input }
    }
}

extension AgentPlanStep {
    fileprivate init?(_ value: JSONValue) {
        guard let text = value["content"]?.string else { return nil }
        self.init(
            text: text.oneLine(atMost: 200),
            status: Status(rawValue: value["status"]?.string ?? "") ?? .pending
        )
    }
}

extension String {
    /// A path of an agent; one that cannot be shown as it is becomes `/?`, which is in no project: rules decide by it.
    fileprivate var agentPath: String {
        let isUsable =
            !isEmpty && utf8.count <= 4096 && !unicodeScalars.contains { $0.properties.generalCategory == .control }
        return isUsable ? self : "/?"
    }
}

/// A request of the agent for permission.
struct ACPQuestion: Sendable, Hashable {
    /// Which of the open questions it is; not the agent's id, which it may use again.
    var key: Int
    var session: String
    var call: ACPToolCall
    var options: [ApprovalOption]
    /// The parameters in the agent's words.
    var raw: JSONValue

    /// Options that a question may have.
    static let mostOptions = 20
    /// Scalars of an option's name that are kept.
    static let nameLength = 200

    /// nil for one that lacks something, or has too many options or ids that are too long.
    init?(key: Int, value: JSONValue) {
        guard let session = value["sessionId"]?.string, let call = value["toolCall"].flatMap(ACPToolCall.init) else {
            return nil
        }
        self.key = key
        self.session = session
        self.call = call
        raw = value
        let offered = value["options"]?.array ?? []
        guard offered.count <= Self.mostOptions else { return nil }
        options = offered.compactMap { option in
            guard let id = option["optionId"]?.string else { return nil }
            let kind = ApprovalOption.Kind(rawValue: option["kind"]?.string ?? "") ?? .other
            let name = (option["name"]?.string ?? id).scalars(atMost: Self.nameLength)
            return ApprovalOption(id: id, name: name, kind: kind)
        }
        // Two of the same id would be one answer with two meanings.
        guard options.allSatisfy({ (1...ApprovalOption.idSize).contains($0.id.utf8.count) }),
            Set(options.map { ByteText($0.id) }).count == options.count
        else { return nil }
    }
}
