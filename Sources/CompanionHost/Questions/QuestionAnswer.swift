package import CompanionWire

/// An answer to a question, before it is known whether the agent offers it.
package enum QuestionAnswer: Sendable, Hashable {
    /// The id of an option.
    case option(String)
    /// Any option of a kind.
    case kind(AgentOption.Kind)

    func option(of question: HostQuestion) -> AgentOption? {
        switch self {
        case .option(let id): question.options.first { $0.id.isSame(as: id) }
        case .kind(let kind): question.options.first { $0.kind == kind }
        }
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
        self.init(name: device.name, device: device)
    }
}
