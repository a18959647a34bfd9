import CompanionWire
import FoundationEssentials
import Logging

/// The chats of a host together with the sessions that its agents list: what began in an agent's own terminal is a chat
/// too, and what goes on there after it was a chat is in the chat.
struct AgentChats: Sendable {
    /// How long a list may take that was not read before, and how long a newer one.
    private static let limits = (first: Duration.seconds(4), newer: Duration.milliseconds(150))
    /// How long a device waits for a session that is being opened. Devices wait 15 s for an answer.
    private static let openLimit = Duration.seconds(9)
    /// An agent may write its session a little after the host has stored the answer.
    private static let slack: TimeInterval = 2
    /// Prompts of a chat that are looked for in its session.
    private static let comparedPrompts = 50

    private let sources: [any AgentSessionSource]
    private let lists: AgentSessionLists
    private let store: CompanionHostStore
    private let turns: TurnRunner
    private let logger: Logger
    private let opening = SharedWork<Result<Void, any Error>>()

    init(agent: any Agent, store: CompanionHostStore, turns: TurnRunner, logger: Logger) {
        sources = agent.sessionSources
        lists = AgentSessionLists(of: sources, logger: logger)
        (self.store, self.turns, self.logger) = (store, turns, logger)
    }

    /// Ends what is being read. To be called when the host ends.
    func stop() {
        lists.stop()
        opening.stop()
    }

    /// The chats of a project and the sessions in it that are no chats yet, newest first.
    func chats(projectID: String) async throws -> [CompanionChat] {
        var chats = try await store.chats(projectID: projectID)
        guard !sources.isEmpty, let project = store.catalog.project(id: projectID) else { return chats }
        var rows = Dictionary(uniqueKeysWithValues: chats.indices.map { (ByteText(chats[$0].id), $0) })
        var projects: [ByteText: String?] = [:]
        for (number, source) in sources.enumerated() {
            let listed = await lists.sessions(of: number, startingIn: project.path, within: Self.limits)
            // Behind the list: a session that has become a chat meanwhile is not listed twice.
            let known = try await store.chatsOfSessions()
            for session in listed ?? [] {
                let place = ByteText(session.directory)
                let found = projects[place] ?? store.catalog.locate(session.directory)?.project.id
                projects[place] = .some(found)
                if let chat = known[SessionKey(session, of: source)] {
                    guard let row = rows[ByteText(chat)] else { continue }
                    chats[row].note(session)
                } else if found == projectID {
                    let chat = CompanionChat(session, of: source, projectID: projectID)
                    guard rows.updateValue(chats.count, forKey: ByteText(chat.id)) == nil else { continue }
                    chats.append(chat)
                }
            }
        }
        return chats.sorted { ($0.lastUpdatedAt ?? .distantPast) > ($1.lastUpdatedAt ?? .distantPast) }
    }

    /// Makes a chat of a listed session that is none yet, and adds to a chat what was said in its session elsewhere.
    ///
    /// Does nothing for any other id, and for a chat that has a turn.
    ///
    /// - Throws: ``HostError`` with `host.agent_unavailable` for a session that its agent does not open, and is no chat
    ///   yet; ``CompanionHostError``; `CancellationError`.
    func prepare(_ chatID: String) async throws {
        guard !sources.isEmpty else { return }
        let stored = try await store.agentSession(ofChat: chatID)
        guard stored != nil || SessionKey.isChatID(chatID), !turns.isBusy(chatID: chatID) else { return }
        // What nobody waits for any more goes on, and the next one finds it done.
        let opened = await opening.value(chatID) { _ in
            Self.openLimit
        } _: {
            do {
                return .success(try await self.bring(chatID))
            } catch {
                return .failure(error)
            }
        }
        if let opened { return try opened.get() }
        try Task.checkCancellation()
        // What a chat has already is shown.
        guard stored == nil else { return }
        throw Self.notYet
    }

    private static let notYet = HostError(
        .hostAgentUnavailable,
        "This session is still being opened. Try again in a moment",
        retryable: true
    )

    private func bring(_ chatID: String) async throws {
        if let stored = try await store.agentSession(ofChat: chatID) {
            try await update(stored)
        } else if try await store.projectID(ofChat: chatID) == nil {
            try await adopt(chatID)
        }
    }

    /// The directory that the session of a chat works in, where it began elsewhere; nil for all other chats.
    func directory(ofChat id: String) async throws -> String? {
        guard !sources.isEmpty, let stored = try await store.agentSession(ofChat: id), stored.beganElsewhere
        else { return nil }
        return stored.directory
    }

    private func adopt(_ chatID: String) async throws {
        for (number, source) in sources.enumerated() {
            guard let first = store.catalog.projects.first else { return }
            let listed = await lists.sessions(of: number, startingIn: first.path, within: Self.limits)
            if listed == nil { throw Self.notYet }
            guard
                let session = listed?.first(where: { SessionKey($0, of: source).chatID.isSame(as: chatID) }),
                let place = store.catalog.locate(session.directory)
            else { continue }
            let chat = CompanionChat(session, of: source, projectID: place.project.id)
            let record = AgentSessionRecord(
                chatID: chatID,
                agent: source.sessionOwner,
                sessionID: session.id,
                directory: session.directory
            )
            let told = try await open(record, of: source, in: place.project)
            try await store.adopt(chat, session: record, told: told ?? [])
            return
        }
    }

    /// Adds what was said in a chat's session elsewhere.
    private func update(_ stored: AgentSessions.Stored) async throws {
        guard let number = sources.firstIndex(where: { $0.sessionOwner.isSame(as: stored.agent) }),
            let projectID = try await store.projectID(ofChat: stored.chat),
            let project = store.catalog.project(id: projectID)
        else { return }
        let source = sources[number]
        // An agent is not started only to see whether there is more in a session that began here.
        guard source.isRunning || stored.beganElsewhere else { return }
        let listed = await lists.sessions(of: number, startingIn: project.path, within: Self.limits)
        guard let session = listed?.first(where: { $0.id.isSame(as: stored.session) }),
            let changed = session.updatedAt, let known = try await store.lastChange(ofChat: stored.chat),
            changed > max(known, stored.syncedAt ?? known).addingTimeInterval(Self.slack)
        else { return }
        let record = AgentSessionRecord(stored)
        _ = try await turns.pausing(chatID: stored.chat) {
            do {
                let told = try await open(record, of: source, in: project)
                try await store.add(told, to: stored, changedAt: changed, comparing: Self.comparedPrompts)
            } catch let error as HostError {
                // What the chat has is shown.
                logger.info("session not read", metadata: .failure(error, ["chat": "\(stored.chat)"]))
            }
        }
    }

    private func open(
        _ record: AgentSessionRecord,
        of source: any AgentSessionSource,
        in project: ProjectCatalog.Project
    ) async throws -> [ToldMessage]? {
        do {
            return try await source.open(record, project: project.path)
        } catch let error as AgentError {
            throw HostError(error.code ?? .hostAgentUnavailable, "This session could not be opened: \(error.message)")
        }
    }
}

extension CompanionChat {
    /// A session that is no chat yet.
    fileprivate init(_ session: ListedSession, of source: any AgentSessionSource, projectID: String) {
        self.init(
            id: SessionKey(session, of: source).chatID,
            projectId: projectID,
            title: session.title.isEmpty ? "Untitled session" : session.title,
            lastUpdatedAt: session.updatedAt,
            model: source.modelID
        )
        origin = .agent
        if session.isOpen { isOpenElsewhere = true }
    }

    /// Notes what the agent says of the chat's session.
    fileprivate mutating func note(_ session: ListedSession) {
        if let changed = session.updatedAt, changed > lastUpdatedAt ?? .distantPast { lastUpdatedAt = changed }
        if session.isOpen { isOpenElsewhere = true }
    }
}
