package import CompanionWire
package import Identity

/// Shows a turn to its user while it runs.
package protocol TurnDisplay {
    /// Runs the turn, and shows meanwhile that it runs.
    func run<R>(_ body: () async throws -> R) async throws -> R
    /// Shows the next event of the turn.
    mutating func write(_ event: TurnEvent)
    /// Ends a line of the answer that has no line break yet.
    mutating func endLine()
}

/// How the user of a task sees turns.
package struct TurnView: Sendable {
    /// Whether the user is asked what the agent asks; else messages say how to answer.
    package var asksUser: Bool
    /// Begins to show a turn in a chat of a host. The tools are those that the agent may use unasked; nil for all.
    package var display: @Sendable (_ chatID: String, _ host: PairedHost, _ allowedTools: [String]?) -> any TurnDisplay

    package init(
        asksUser: Bool,
        display:
            @escaping @Sendable (_ chatID: String, _ host: PairedHost, _ allowedTools: [String]?) -> any TurnDisplay
    ) {
        self.asksUser = asksUser
        self.display = display
    }
}
