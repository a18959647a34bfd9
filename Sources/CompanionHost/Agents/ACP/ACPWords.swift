import CompanionWire

/// The words of an agent, as readers get them.
enum ACPWords {
    /// Bytes of an update. Clients bound the length of a line.
    static let mostBytes = 2 << 20
    /// Bytes of what a tool got and gave, in an update that is too large.
    private static let mostRaw = 64 << 10

    /// An update; one that is too large without the raw input and output of its tool, or else without its content.
    static func bounded(_ update: JSONValue) -> JSONValue {
        guard update.json.count > mostBytes, var members = update.object else { return update }
        for name in ["rawOutput", "rawInput"] {
            guard let value = members[name], value.size > mostRaw else { continue }
            members[name] = nil
        }
        guard JSONValue.object(members).json.count > mostBytes else { return .object(members) }
        let text = JSONValue.string("(over \(mostBytes >> 20) MiB: not sent)")
        members["content"] =
            members["content"]?.array == nil
            ? ["type": "text", "text": text] : [["type": "content", "content": ["type": "text", "text": text]]]
        return JSONValue.object(members).json.count > mostBytes ? ["sessionUpdate": "other"] : .object(members)
    }
}

/// The words of an agent about a session beside its prompts.
struct ACPSessionFacts: Sendable, Hashable {
    /// Bytes of the updates, and of the answer.
    private static let mostBytes = 512 << 10

    /// The answer that began the session, or took it up; null for one that is too large.
    var opened: JSONValue = .null {
        didSet { if opened.size > Self.mostBytes { opened = .null } }
    }
    /// The last updates by their kind.
    private(set) var updates: [String: JSONValue] = [:]

    /// Notes an update. Others than those of a session's state are left out.
    mutating func note(_ update: JSONValue) {
        guard let kind = update["sessionUpdate"]?.string, ACPMessage.stateUpdates.contains(kind) else { return }
        let others = updates.reduce(0) { $0 + ($1.key.isSame(as: kind) ? 0 : $1.value.size) }
        guard others + update.size <= Self.mostBytes else { return }
        updates[kind] = update
    }

    /// Forgets an update that no longer holds.
    mutating func forget(_ kind: String) { updates[kind] = nil }
}
