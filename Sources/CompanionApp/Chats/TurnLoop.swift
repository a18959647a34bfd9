import CompanionClient
import CompanionWire
import Identity
import PairingAgent

/// Sends a prompt and follows its answer: the only loop over the events of a turn.
struct TurnLoop: Sendable {
    /// The end of a turn.
    struct Ending: Sendable {
        /// The whole answer.
        var answer = ""
        /// The tools that the agent used, in the order of their first use.
        var tools: [String] = []
    }

    let session: HostSession
    let chatID: String
    /// The chat's title, for the desktop.
    let title: String
    let request: TurnRequest
    /// The prompt as it waits on this machine; nil for one that was not kept.
    var journal: PromptJournal?
    /// How the answer is shown; nil if it is not.
    var view: TurnView?
    /// Whether the user is asked what the agent asks.
    var asksUser: Bool
    /// Whether the answer is left to the host as soon as that has the prompt.
    var isLeft = false

    /// Runs the turn, under the lock of its chat.
    ///
    /// - Parameters:
    ///   - turn: Lets the user cancel the turn; nil for one that is left to the host.
    ///   - takesInterrupts: Whether Ctrl-C is about this turn. Default: false, somebody else passes it on.
    /// - Throws: ``TurnCancelled``; ``TurnLock/TurnLeft`` for an answer that is left to the host; ``TurnLock/Taken`` if
    ///   such a prompt would have to wait. Until the prompt is sent, errors of the host are marked as such.
    func run(_ turn: CancellableTurn?, takesInterrupts: Bool = false) async throws -> Ending {
        guard !isLeft else { return try await locked { try await follow { _ in } } }
        let notifier = TurnNotifier(environment: session.environment, hostName: session.host.name)
        return try await notifier.watch(chat: title) {
            try await locked {
                guard let turn else { return try await follow { _ in } }
                guard takesInterrupts else { return try await turn.run(follow) }
                return try await session.interaction.interruptible(by: { !turn.interrupt() }) {
                    try await turn.run(follow)
                }
            }
        }
    }

    private func locked(_ body: () async throws -> Ending) async throws -> Ending {
        try await TurnLock.with(
            chatID: chatID,
            host: session.host,
            environment: session.environment,
            waits: !isLeft,
            waitForEarlier: { begun in
                let isFree = try await session.beforePrompt {
                    try await session.turns.waitForEarlierTurn(chatID: chatID, begun: begun, waits: !isLeft) {
                        session.interaction.say($0)
                    }
                }
                guard isFree else { throw TurnLock.Taken() }
            },
            body
        )
    }

    private func events() throws -> TurnEvents {
        guard let journal else { return try session.turns.turn(chatID: chatID, request: request) }
        return try session.turns.turn(chatID: chatID, request: request, journal: journal)
    }

    /// Shows the turn, and answers the agent's questions.
    ///
    /// - Parameter begun: Called with the turn's id, if the host gives it one.
    private func follow(_ begun: @escaping @Sendable (String) -> Void) async throws -> Ending {
        let leavesPrompt = session.host.family.behavior.facts.queuing == .untilReceived
        var display = view?.display(chatID, session.host, request.allowedTools)
        var (ending, isReceived) = (Ending(), false)
        defer { display?.endLine() }
        let questions = TurnQuestions(
            session,
            allowedTools: request.allowedTools,
            deniesRest: request.deniesQuestions,
            asksUser: asksUser
        )
        func receive() async throws {
            try await questions.answering {
                for try await event in try events() {
                    if case .begun(let turnID) = event {
                        try LastTurns(environment: session.environment)
                            .remember(turnID, chatID: chatID, host: session.host)
                        begun(turnID)
                    }
                    // What the history is searched for is not known to have come.
                    if case .recovering = event {
                    } else if !isReceived, leavesPrompt {
                        isReceived = true
                        try journal?.finish()
                    }
                    if isLeft, isReceived { throw TurnLock.TurnLeft() }
                    display?.write(event)
                    switch event {
                    case .toolStart(let name, _):
                        if !ending.tools.contains(where: { name.isSame(as: $0) }) { ending.tools.append(name) }
                    case .finished(let summary): ending.answer = summary.answer
                    case .question(let notice): questions.take(notice)
                    default: break
                    }
                }
            }
        }
        if let shown = display { try await shown.run(receive) } else { try await receive() }
        // A cancelled wait ends the loop without an error.
        try Task.checkCancellation()
        return ending
    }
}

extension HostSession {
    /// Runs what comes before a prompt is sent: if it fails, the host has not got the prompt.
    func beforePrompt<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch var error as CompanionClientError {
            error.delivery = .notSent
            throw error.naming(host)
        }
    }
}
