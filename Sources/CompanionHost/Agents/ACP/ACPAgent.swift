package import CompanionWire
package import Logging
import NIOConcurrencyHelpers

/// An agent that speaks the Agent Client Protocol: a process for each project, started when it is needed, with a session
/// for each chat, which the agent remembers.
package struct ACPAgent: Agent {
    let launch: ACPLaunch
    let path: String
    let clientVersion: String
    let logPath: String
    let logger: Logger
    let report: @Sendable (AgentReport) -> Void
    let sessions: any AgentSessionStore
    let limits: ACPConnection.Limits
    let processes = NIOLockedValueBox(ACPProcesses())
    let lastTrouble = NIOLockedValueBox<AgentTrouble?>(nil)
    let starts: AsyncStream<Start>
    let starter: AsyncStream<Start>.Continuation
    /// One model, with the id and the name of the ``ACPLaunch``.
    private let model: CompanionModel

    package var models: [CompanionModel] {
        let seen = processes.withLockedValue { $0.connections }.lazy.compactMap(\.takesImages).first
        var model = model
        model.capabilities = seen.map { .init(supports: .init(vision: $0)) }
        return [model]
    }

    /// A process that is to be started.
    struct Start: Sendable {
        var connection: ACPConnection
        /// The directory in which it starts: that of the project of the turn which needs it.
        var directory: String
    }

    /// - Parameters:
    ///   - sessions: Stores which session each chat continues in.
    ///   - clientVersion: This program's version, for the agent.
    ///   - logPath: The path of the file for the agent's standard error.
    ///   - report: Called with messages for the owner of the host.
    /// - Throws: ``CompanionHostError/Code/agentNotFound``.
    package init(
        _ launch: ACPLaunch,
        sessions: any AgentSessionStore,
        clientVersion: String,
        logPath: String,
        logger: Logger,
        report: @escaping @Sendable (AgentReport) -> Void
    ) throws(CompanionHostError) {
        try self.init(
            launch,
            sessions: sessions,
            limits: ACPConnection.Limits(),
            clientVersion: clientVersion,
            logPath: logPath,
            logger: logger,
            report: report
        )
    }

    init(
        _ launch: ACPLaunch,
        sessions: any AgentSessionStore,
        limits: ACPConnection.Limits,
        clientVersion: String = "",
        logPath: String,
        logger: Logger,
        report: @escaping @Sendable (AgentReport) -> Void = { _ in }
    ) throws(CompanionHostError) {
        path = try AgentProgram.found(launch.command.first)
        self.launch = launch
        self.sessions = sessions
        self.limits = limits
        self.clientVersion = clientVersion
        self.logPath = logPath
        self.logger = logger
        self.report = report
        (starts, starter) = AsyncStream.makeStream()
        model = CompanionModel(id: launch.id, name: launch.name)
    }

    /// A process answers several, and one that waits for a person's answer needs nothing meanwhile.
    package let turnLimit = 64

    package var trouble: AgentTrouble? { lastTrouble.withLockedValue { $0 } }

    package var sandbox: AdminSandbox? { launch.sandbox?.facts }

    package var sessionSources: [any AgentSessionSource] { launch.listsSessions ? [self] : [] }

    package func isAvailable() -> Bool {
        AgentProgram.isExecutable(path)
    }

    package func silenceText(_ limit: Duration) -> String {
        Self.silenceText(limit, name: launch.name)
    }

    package func forget(chat: String) {
        for connection in processes.withLockedValue({ $0.connections }) { connection.forget(chat: chat) }
    }

    /// Continues the chat's session with the agent, and begins a new one if there is none that can be continued.
    ///
    /// - Throws: ``AgentError`` with a text for people; `CancellationError`.
    package func answer(_ turn: AgentTurn, conversation: AgentConversation) async throws {
        let (connection, known) = try await openSession(of: turn, conversation: conversation)
        defer { connection.release() }
        do {
            guard try await run(turn, in: known, over: connection, conversation: conversation) != nil else {
                return lastTrouble.withLockedValue { $0 = nil }
            }
            connection.forget(chat: turn.chatID)
            let lost = "\(launch.name) no longer has its session"
            let new = try await newSession(of: turn, lost: lost, connection: connection, conversation: conversation)
            if let refusal = try await run(turn, in: new, over: connection, conversation: conversation) {
                throw refusal
            }
            lastTrouble.withLockedValue { $0 = nil }
        } catch {
            throw failure(error, over: connection)
        }
    }

    /// Opens the session of a turn's chat.
    ///
    /// - Parameter mayReplace: Whether a new session takes the place of one that cannot go on.
    /// - Returns: The process that it is in, to be released behind the turn, and its id.
    /// - Throws: ``ACPSessionLost`` in place of that.
    func openSession(
        of turn: AgentTurn,
        conversation: AgentConversation,
        mayReplace: Bool = true
    ) async throws -> (ACPConnection, session: String) {
        var before: ACPConnection?
        while true {
            // A working tree may be removed while the process runs.
            let connection = connection(forChat: turn.chatID, in: turn.project ?? turn.directory)
            // It is the only one that has the chat's session: whoever has to answer is waited for.
            let hasNoOther = before === connection
            before = connection
            do {
                if !connection.hasStarted { conversation.emit(.status("Starting \(launch.name)")) }
                let info = try await connection.ready()
                guard turn.images.isEmpty || info.takesImages else {
                    throw AgentError(message: "\(launch.name) takes no pictures: the prompt was not sent")
                }
                let found = try await withThrowingTaskGroup(of: String?.self) { group in
                    group.addTask {
                        try await session(
                            of: turn,
                            info: info,
                            connection: connection,
                            conversation: conversation,
                            mayReplace: mayReplace
                        )
                    }
                    // It may begin no session before somebody has answered: another process does then.
                    if !hasNoOther {
                        group.addTask {
                            try await connection.waitingForPeople(besides: turn.chatID)
                            return nil
                        }
                    }
                    defer { group.cancelAll() }
                    return try await group.next() ?? nil
                }
                if let found { return (connection, found) }
                connection.release()
            } catch {
                defer { connection.release() }
                throw failure(error, over: connection)
            }
        }
    }

    /// The error that the turn's sender gets, which is noted as the agent's trouble where it is one.
    func failure(_ error: any Error, over connection: ACPConnection) -> any Error {
        if Task.isCancelled || error as? ACPEnd == .shutdown { return CancellationError() }
        guard var described = describe(error) as? AgentError else { return error }
        let isEnd = error is ACPEnd || error is ACPFault
        let needsSignIn = (error as? ACPRefusal)?.code == ACPRefusal.signInRequired
        if !connection.hasStarted {
            described.code = described.code ?? .hostAgentUnavailable
            if !needsSignIn, let refusal = error as? ACPRefusal {
                described.message = "\(launch.name) did not start: \(Self.reason(refusal))"
            }
        }
        if isEnd || described.code != nil {
            let trouble = AgentTrouble(message: described.message, needsSignIn: needsSignIn)
            lastTrouble.withLockedValue { $0 = trouble }
        }
        if needsSignIn {
            // Who signs in meanwhile is known to another process.
            connection.retire()
            report(AgentReport(message: described.message))
        }
        return described
    }

    /// Sends a prompt in a session, in a mode that is allowed, and passes on the agent's updates.
    ///
    /// - Returns: nil, or the refusal of an agent that does not know the session any more, and has done nothing.
    private func run(
        _ turn: AgentTurn,
        in session: String,
        over connection: ACPConnection,
        conversation: AgentConversation
    ) async throws -> ACPRefusal? {
        var content = turn.content
        if let blocks = content, let info = connection.info {
            content = try ACPPrompt.fitted(blocks, to: info, name: launch.name)
        }
        // It may change its mode just when it was checked.
        for _ in 0..<10 {
            let prompt = ACPTurn(
                limits: limits,
                directory: turn.directory,
                tellsWords: turn.content != nil,
                reader: conversation,
                checkMode: { () throws(AgentError) in
                    _ = try checkMode(of: session, over: connection, emit: conversation.emit)
                },
                stop: { connection.cancel(session: session) }
            )
            defer {
                // Who works is signed in, however the turn ends.
                if prompt.hasWorked {
                    lastTrouble.withLockedValue { if $0?.needsSignIn == true { $0 = nil } }
                }
            }
            let watch = Task { try await tell(of: prompt, behind: turn.chatID, over: connection, conversation) }
            defer { watch.cancel() }
            do {
                try await makeAsk(session, over: connection)
                let modes = try checkMode(of: session, over: connection, emit: conversation.emit)
                try await prompt.run { [content] in
                    try await connection.prompt(
                        turn.prompt,
                        images: turn.images,
                        content: content,
                        session: session,
                        in: modes,
                        listener: prompt.listener
                    )
                } ask: { question in
                    await conversation.ask(question)
                } decide: { key, answer in
                    connection.decide(key, with: answer)
                }
                return nil
            } catch is ACPModeChanged {
                continue
            } catch let refusal as ACPRefusal where refusal.code == ACPRefusal.notFound && !prompt.hasWorked {
                return refusal
            }
        }
        throw AgentError(message: "\(launch.name) keeps changing its mode: the prompt was not sent")
    }

    /// Tells a turn's reader that its prompt waits for a person's answer in another chat, which agents do that do nothing
    /// else meanwhile. Such a prompt may have been read, so that it is not sent to another process; it is not silent.
    private func tell(
        of prompt: ACPTurn,
        behind chat: String,
        over connection: ACPConnection,
        _ conversation: AgentConversation
    ) async throws {
        try await connection.waitingForPeople(besides: chat)
        guard !prompt.hasWorked else { return }
        conversation.emit(.status("\(launch.name) waits for an answer in another chat"))
        while !prompt.hasWorked, connection.waitsForPeople(besides: chat) {
            conversation.keepAlive()
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    /// A process for a chat, which is started in a directory where there is none.
    func connection(forChat chat: String, in directory: String) -> ACPConnection {
        let (connection, isNew) = processes.withLockedValue { processes in
            processes.take(for: chat, in: directory) { ACPConnection(limits: limits) }
        }
        if isNew, case .terminated = starter.yield(Start(connection: connection, directory: directory)) {
            connection.end(ACPEnd.shutdown)
        }
        return connection
    }
}

extension ACPAgent {
    /// Leaves a mode in which the agent asks nothing, where that is not allowed and there is another one.
    func makeAsk(_ session: String, over connection: ACPConnection) async throws {
        guard !launch.allowsBypass, let modes = connection.modes(ofSession: session),
            modes.asksNothing(in: modes.current, more: launch.bypassModes),
            let mode = modes.askingMode(more: launch.bypassModes)
        else { return }
        _ = try await connection.call(.setMode(mode, session: session, setter: modes.setter), within: limits.session)
    }

    /// Tells readers the mode of a session, if it has one, also where it is refused.
    ///
    /// - Returns: The modes that were looked at.
    /// - Throws: In a mode that asks nothing, where that is not allowed.
    private func checkMode(
        of session: String,
        over connection: ACPConnection,
        emit: @Sendable (TurnEvent) -> Void
    ) throws(AgentError) -> ACPModes? {
        let box = launch.sandbox?.facts.text
        guard let modes = connection.modes(ofSession: session) else {
            if let mode = box.flatMap({ AgentMode($0) }) { emit(.mode(mode)) }
            return nil
        }
        let name = modes.name(of: modes.current)
        let isFree = modes.asksNothing(in: modes.current, more: launch.bypassModes)
        let remarks = [isFree ? "asks nothing" : nil, box].compactMap(\.self).joined(separator: ", ")
        if let mode = AgentMode(remarks.isEmpty ? name : "\(name) (\(remarks))") { emit(.mode(mode)) }
        guard isFree, !launch.allowsBypass else { return modes }
        let message = "\(launch.name) is in the mode “\(name)”, in which it asks nothing. Its host does not allow that"
        report(AgentReport(message: "\(message). To allow it: pairtool host --allow-bypass"))
        throw AgentError(message: message)
    }

    static func reason(_ refusal: ACPRefusal) -> String {
        refusal.message.isEmpty ? "error \(refusal.code)" : refusal.message.scalars(atMost: 500)
    }

    /// An error for people.
    func describe(_ error: any Error) -> any Error {
        let name = launch.name
        let again = "The next prompt starts it again"
        let text: String
        var code: CompanionErrorCode?
        switch error {
        case let refusal as ACPRefusal where refusal.code == ACPRefusal.signInRequired:
            code = .hostAgentSignIn
            text =
                "\(name) asks to sign in. At the host\(launch.signInHint.map { ": \($0)" } ?? ", sign in with it"). Then send the prompt again"
        case let refusal as ACPRefusal:
            text = "\(name) could not do this: \(Self.reason(refusal))"
        case ACPEnd.exited(let how): text = "\(name) ended\(how). \(again)"
        case ACPEnd.notStarted:
            code = .hostAgentUnavailable
            text = "\(name) could not be started"
        case ACPEnd.silent(let limit): text = "\(name) did not answer within \(limit.components.seconds) s. \(again)"
        case ACPEnd.shutdown, ACPEnd.asked: text = "The host ended \(name)"
        case ACPFault.garbage:
            text = "\(name) does not speak the Agent Client Protocol: it was ended. Check its command line at the host"
        case ACPFault.flood:
            text = "\(name) sent a message of over \(ACPClient.maximumLine >> 20) MiB: it was ended. \(again)"
        case ACPFault.unread: text = "\(name) does not read its input: it was ended. \(again)"
        case ACPFault.version(let version):
            text =
                "\(name) speaks version \(version) of the Agent Client Protocol, this host version \(ACPClient.protocolVersion): update pairtool or the agent"
        default: return error
        }
        return AgentError(message: text, code: code)
    }
}
