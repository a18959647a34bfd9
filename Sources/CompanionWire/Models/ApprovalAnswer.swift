/// The answer to an agent's or a daemon's request, before it is known whether the request offers it.
package enum ApprovalAnswer: Sendable, Hashable {
    /// Yes: for this request, or for later ones of its kind too.
    case allow(always: Bool)
    /// No, in whichever way the agent takes it. `reason` is for hosts that pass it on.
    case reject(always: Bool, reason: String?)
    /// The id of an option.
    case option(String)
    /// An option that lets the agent go on, by its id or its name.
    case named(String)
    /// The values of a form, by the names of its fields.
    case filled([String: JSONValue])
    /// Neither yes nor no, for a form or a page: the agent goes on without an answer.
    case dismissed
    /// No option: the agent's turn ends.
    case cancelled

    /// Finds the option that the answer means.
    ///
    /// A name that is the word of a kind, such as “allow once”, does not choose an option of that kind.
    ///
    /// - Parameter mayAlways: Whether a rejection may go for later requests too, where the agent offers no other one.
    /// - Returns: The option; nil where the agent offers none for this answer, which ends its turn: for a cancellation,
    ///   and for a rejection.
    /// - Throws: ``ApprovalAnswerError`` for an answer that is not offered.
    package func option(
        of options: [ApprovalOption],
        mayAlways: Bool
    ) throws(ApprovalAnswerError) -> ApprovalOption? {
        let found: ApprovalOption?
        switch self {
        case .cancelled: return nil
        case .reject(always: false, _):
            if let once = options.first(where: { $0.kind == .rejectOnce }) { return once }
            return mayAlways ? options.first { $0.kind == .rejectAlways } : nil
        case .reject(always: true, _): found = options.first { $0.kind == .rejectAlways }
        case .allow(always: false): found = options.first { $0.kind == .allowOnce }
        case .allow(always: true): found = options.first { $0.kind == .allowAlways }
        case .option(let id): found = options.first { $0.id.isSame(as: id) }
        case .named(let word): found = try Self.approval(word, among: options)
        case .filled: found = options.first { $0 == .accept }
        case .dismissed: found = options.first { $0 == .dismiss }
        }
        guard let found else {
            throw ApprovalAnswerError("The agent does not offer this answer. It offers: \(options.offered)")
        }
        return found
    }

    private static func approval(
        _ word: String,
        among options: [ApprovalOption]
    ) throws(ApprovalAnswerError) -> ApprovalOption? {
        let named = options.filter { $0.name.isSame(as: word) }
        let found = options.first { $0.id.isSame(as: word) } ?? named.first
        if named.count > 1, found?.id.isSame(as: word) != true {
            let ids = named.map(\.id).joined(separator: ", ")
            throw ApprovalAnswerError("Several answers are called “\(word)”. Use the id: \(ids)")
        }
        if let found, found.kind.isRefusal {
            throw ApprovalAnswerError("“\(found.name)” is a rejection: use reject")
        }
        return found
    }
}

/// An answer that a request does not offer.
package struct ApprovalAnswerError: Error, Sendable, CustomStringConvertible {
    /// The reason for people, without the last full stop. It contains names and ids of the agent: sanitise it.
    package var description: String

    init(_ description: String) { self.description = description }
}
