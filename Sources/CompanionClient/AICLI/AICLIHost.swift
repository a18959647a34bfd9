package import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers

/// A paired AICLI server: its operations and its local store.
package struct AICLIHost: Sendable {
    /// Sends the requests.
    package let client: AICLIClient
    /// Holds sessions and prompts that wait, which the server forgets when it restarts.
    package let store: AICLIStore
    /// Runs turns; tests replace its clock.
    package var runner: AICLITurnRunner
    /// Takes notices for the user about what is shown; nil drops them.
    package var notice: (@Sendable (String) -> Void)?
    /// Of a notice that is given once.
    private let noticed = OneShot()
    /// The projects that were listed last.
    private let listed = NIOLockedValueBox<[CompanionProject]?>(nil)

    /// - Parameter permissions: Answers the agent's questions that the allowed tools do not cover; nil denies them.
    package init(client: AICLIClient, store: AICLIStore, permissions: AICLIPermissionAnswering? = nil) {
        self.client = client
        self.store = store
        runner = AICLITurnRunner(client: client, store: store)
        runner.permissions = permissions
    }

    /// The host as commands use it.
    package var hostClient: HostClient {
        HostClient(projects: self, chats: self, turns: self)
    }

    /// The same host, which stores its chats in the history; nil stores nothing.
    package func recorded(by recorder: HistoryRecorder?) -> AICLIHost {
        var host = self
        host.runner.messages = AICLIMessages(store, recorder: recorder)
        return host
    }
}

extension AICLIHost: HistoryKeeping {
    func keeping(in recorder: HistoryRecorder) -> HostClient { recorded(by: recorder).hostClient }
    func certainChats(of project: CompanionProject) -> [CompanionChat] { [project.onlyChat] }
}

extension AICLIHost: ProjectBrowsing, ChatBrowsing {
    /// The projects, by their last use from this machine, because the server does not record it.
    package func projects() async throws -> [CompanionProject] {
        let sessions = try store.sessions()
        let projects = try await client.projects().map { project in
            var project = project
            project.lastUpdatedAt = sessions.session(for: project.localPath)?.lastActivityAt ?? project.lastUpdatedAt
            return project
        }
        .sorted { ($0.lastUpdatedAt ?? .distantPast) > ($1.lastUpdatedAt ?? .distantPast) }
        listed.withLockedValue { $0 = projects }
        return projects
    }

    /// Each project has exactly one chat, even before it is begun, because servers keep one session per directory.
    package func chats(projectID: String) async throws -> [CompanionChat] {
        var projects = listed.withLockedValue(\.self)
        if projects == nil { projects = try await self.projects() }
        guard let project = projects?.first(where: { $0.id == projectID }) else { return [] }
        return [project.onlyChat]
    }

    /// The messages of this machine, because servers do not return messages.
    package func messagesPage(
        chatID: String,
        cursor: String?,
        limit: Int
    ) async throws -> CompanionMessagesPageResponse {
        if runner.messages.recorder == nil, noticed.use() {
            notice?("No history is kept, and an AICLI server returns no messages.")
        }
        return try await runner.messages.page(chatID: chatID, cursor: cursor, limit: limit)
    }
}

extension AICLIHost {
    /// Begins a new session in a project's directory. An existing session is ended first: otherwise the server would
    /// return it again.
    ///
    /// - Returns: The new session's id.
    /// - Throws: ``CompanionClientError/Code/hostError`` if the server keeps the old session.
    package func beginSession(in project: CompanionProject) async throws -> String {
        let workingDirectory = project.localPath
        let old = try store.sessions().session(for: workingDirectory)?.id
        if let old { _ = try await client.endSession(old) }
        var started = try await client.startSession(in: workingDirectory)
        if !started.isNew, try await client.endSession(started.id) {
            started = try await client.startSession(in: workingDirectory)
        }
        guard started.isNew else {
            throw CompanionClientError(
                .hostError,
                message:
                    "The host returned the earlier session: this build of the server keeps one session per project."
            )
        }
        try store.updateSessions { $0.started(started.id, in: workingDirectory, at: runner.now()) }
        return started.id
    }
}

extension AICLIHost: TurnRunning {
    package var takesImages: Bool { false }

    package func makeChat(projectID: String, title: String) async throws -> String {
        guard let chat = try await chats(projectID: projectID).first else {
            throw CompanionClientError(.notFound, message: "The host does not have that project.", delivery: .notSent)
        }
        return chat.id
    }

    package func turn(chatID: String, request: TurnRequest) -> TurnEvents {
        turn(request, waiting: nil)
    }

    package func turn(chatID: String, request: TurnRequest, journal: PromptJournal) -> TurnEvents {
        turn(request, waiting: journal.id)
    }

    private func turn(_ request: TurnRequest, waiting: String?) -> TurnEvents {
        TurnEvents { emit in
            guard let directory = request.projectPath, !directory.isEmpty else {
                throw CompanionClientError(
                    .badRequest,
                    message: "Name a project: AICLI servers work in a project's folder.",
                    delivery: .notSent
                )
            }
            var runner = self.runner
            if request.deniesQuestions { runner.permissions = nil }
            let summary = try await runner.run(
                request.prompt,
                in: directory,
                allowedTools: request.allowedTools,
                waiting: waiting,
                emit: emit
            )
            emit(.finished(summary))
        }
    }
}
