package import CompanionWire

/// An answer to a question, before it is known whether the agent offers it.
package enum QuestionAnswer: Sendable, Hashable {
    /// The id of an option.
    case option(String)
    /// Any option of a kind.
    case kind(AgentOption.Kind)
    /// An option that lets the agent go on, by its id or its name.
    case approval(String)
    /// No, in whichever way the agent takes it: once, for good if this person may say so, or as the end of the turn.
    case rejection

    /// - Parameter mayAlways: Whether the person may choose answers that go for later questions too.
    /// - Returns: The option; nil for the end of the turn.
    /// - Throws: ``HostError``: `request.invalid` for an answer that the agent does not offer.
    func option(of question: HostQuestion, mayAlways: Bool) throws -> AgentOption? {
        let options = question.options
        let found: AgentOption?
        switch self {
        case .option(let id): found = options.first { $0.id.isSame(as: id) }
        case .kind(let kind): found = options.first { $0.kind == kind }
        case .approval(let word): found = try Self.approval(word, of: options)
        case .rejection:
            return options.first { $0.kind == .rejectOnce }
                ?? (mayAlways ? options.first { $0.kind == .rejectAlways } : nil)
        }
        guard let found else {
            throw HostError(.requestInvalid, "The agent does not offer this answer. It offers: \(options.offered)")
        }
        return found
    }

    private static func approval(_ word: String, of options: [AgentOption]) throws -> AgentOption? {
        let named = options.filter { $0.name.isSame(as: word) }
        let found = options.first { $0.id.isSame(as: word) } ?? named.first
        if named.count > 1, found?.id.isSame(as: word) != true {
            let ids = named.map(\.id).joined(separator: ", ")
            throw HostError(.requestInvalid, "Several answers are called “\(word)”. Use the id: \(ids)")
        }
        if let found, found.kind.isRefusal {
            throw HostError(.requestInvalid, "“\(found.name)” is a rejection: use reject")
        }
        return found
    }
}

/// Who answers a question.
package struct QuestionDecider: Sendable, Hashable {
    /// For people: for the audit, and for the one who answers second.
    package var name: String
    /// nil for the owner.
    package var device: CompanionDevice?

    package static let owner = QuestionDecider(name: "The owner", device: nil)

    init(name: String, device: CompanionDevice?) {
        self.name = name
        self.device = device
    }

    init(_ device: CompanionDevice) {
        // A name is the device's own choice, and may be that of the owner.
        self.init(name: "Device “\(device.name)”", device: device)
    }
}
