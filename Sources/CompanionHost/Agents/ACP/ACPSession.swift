import CompanionWire

/// The capabilities that an agent reported in its answer to `initialize`.
struct ACPAgentInfo: Sendable, Hashable {
    /// Whether it takes up a session with all that was said before (`session/load`).
    var loads: Bool
    /// Whether it takes up a session without saying it all again (`session/resume`).
    var resumes: Bool
    /// Whether it tells which sessions it keeps (`session/list`).
    var lists: Bool
    /// Whether prompts may have pictures, sounds, and the contents of files.
    var takesImages: Bool
    var takesAudio: Bool
    var takesFiles: Bool

    init(_ value: JSONValue) {
        let capabilities = value["agentCapabilities"]
        loads = capabilities?["loadSession"]?.bool ?? false
        let prompts = capabilities?["promptCapabilities"]
        takesImages = prompts?["image"]?.bool ?? false
        takesAudio = prompts?["audio"]?.bool ?? false
        takesFiles = prompts?["embeddedContext"]?.bool ?? false
        // An object, which may be empty; null and its absence mean no.
        let sessions = capabilities?["sessionCapabilities"]
        resumes = sessions?["resume"]?.isObject ?? false
        lists = sessions?["list"]?.isObject ?? false
    }
}

/// The modes of a session, which say how freely its agent works.
struct ACPModes: Sendable, Hashable {
    struct Mode: Sendable, Hashable {
        var id: String
        var name: String
    }

    /// The request that changes the mode.
    enum Setter: Sendable, Hashable {
        /// `session/set_mode`
        case mode
        /// `session/set_config_option`, with the id of the option.
        case option(String)
    }

    var current: String
    var available: [Mode]
    var setter: Setter

    /// The modes of an agent that reports its present mode, and has not reported which others there are.
    init(current: String) {
        (self.current, available, setter) = (current, [], .mode)
    }

    /// Reads the modes from the answer that begins a session, or from an update of its options. Newer agents have an
    /// option of the category `mode`, older ones `modes`.
    init?(_ value: JSONValue) {
        let options = value["configOptions"]?.array ?? []
        let isOfModes = { (option: JSONValue) in option["category"]?.string == "mode" || option["id"]?.string == "mode"
        }
        if let option = options.first(where: isOfModes), let id = option["id"]?.string,
            let current = option["currentValue"]?.string
        {
            self.current = current
            // Options may be in groups.
            let choices = (option["options"]?.array ?? []).flatMap { $0["options"]?.array ?? [$0] }
            available = choices.compactMap { Mode($0, id: "value") }
            setter = .option(id)
        } else if let modes = value["modes"], let current = modes["currentModeId"]?.string {
            self.current = current
            available = (modes["availableModes"]?.array ?? []).compactMap { Mode($0, id: "id") }
            setter = .mode
        } else {
            return nil
        }
    }

    /// Bytes of a current mode's id, and of all others that are kept of an update.
    private static let (mostOfID, mostBytes) = (1024, 64 << 10)

    /// The kept part of an update: the beginning of an id that is too long still tells how freely the agent works.
    var bounded: ACPModes {
        var kept = self
        if current.utf8.count > Self.mostOfID {
            kept.current = String(decoding: current.utf8.prefix(Self.mostOfID), as: UTF8.self)
        }
        let size = available.reduce(0) { $0 + $1.id.utf8.count + $1.name.utf8.count }
        if size > Self.mostBytes { kept.available = [] }
        return kept
    }

    /// The name of a mode for people, in at most 100 scalars: its id if the agent gave no name.
    func name(of id: String) -> String {
        available.first { $0.id.isSame(as: id) }?.name ?? id.oneLine(atMost: 100)
    }
}

extension ACPModes.Mode {
    fileprivate init?(_ value: JSONValue, id: String) {
        guard let id = value[id]?.string else { return nil }
        let name = (value["name"]?.string ?? "").oneLine(atMost: 100)
        self.init(id: id, name: name.isEmpty ? id.oneLine(atMost: 100) : name)
    }
}

extension ACPModes {
    /// Words in the names of modes in which agents do everything without asking, as far as such modes are known.
    private static let bypassing = [
        "bypass", "yolo", "fullaccess", "fullauto", "autopilot", "unrestricted", "danger", "skippermission",
        "autoapprove", "alwaysapprove", "approveall", "allowall", "alwaysallow", "acceptall", "neverask", "noapproval",
    ]
    /// Modes in which agents ask before they change something, the best first.
    private static let asking = ["default", "ask", "approve", "manual", "suggest", "agent", "build"]

    /// Modes in which they change nothing.
    private static let reading = ["plan", "readonly", "architect", "chat"]

    /// The letters of a text in lower case, without any other characters.
    private static func letters(_ text: some StringProtocol) -> String {
        var letters = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where scalar.properties.isAlphabetic {
            letters.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
        }
        return String(letters)
    }

    /// The letters of an id; of one that is a link, those of its last part.
    private static func letters(id: String) -> String { letters(id.parts("#").last ?? id[...]) }

    /// Whether the agent asks nothing in a mode.
    ///
    /// - Parameter more: Further modes of this agent that ask nothing, as letters of the whole id or name.
    func asksNothing(in id: String, more: Set<String>) -> Bool {
        // By its id and by its name: either may be in the words of the field.
        let name = Self.letters(name(of: id))
        let whole = Self.letters(id)
        return more.contains(Self.letters(id: id)) || more.contains(name)
            || Self.bypassing.contains { whole.has($0) || name.has($0) }
    }

    /// Whether the agent is known to ask in a mode before it changes something, or to change nothing.
    func asks(in id: String) -> Bool {
        (Self.asking + Self.reading).contains { Self.letters(id: id).isSame(as: $0) }
            && !asksNothing(in: id, more: [])
    }

    /// A mode in which the agent asks.
    func askingMode(more: Set<String>) -> String? {
        Self.asking.lazy.compactMap { wanted in available.first { Self.letters(id: $0.id).isSame(as: wanted) } }
            .first { !asksNothing(in: $0.id, more: more) }?.id
    }
}

/// Why a prompt's answer ended.
enum ACPStopReason: Sendable, Hashable {
    case endTurn, maxTokens, maxTurnRequests, refusal, cancelled
    /// One that this version does not know.
    case other(String)

    init(_ value: JSONValue) {
        switch value["stopReason"]?.string {
        case "end_turn", nil: self = .endTurn
        case "max_tokens": self = .maxTokens
        case "max_turn_requests": self = .maxTurnRequests
        case "refusal": self = .refusal
        case "cancelled": self = .cancelled
        case let other?: self = .other(other)
        }
    }
}
