import CompanionWire
import FoundationEssentials
import History
import NIOConcurrencyHelpers

extension HostClient {
    /// The same host; what it lists and says is written down.
    ///
    /// - Parameter deviceID: This device at the host. When the host forgets it, the history forgets the host.
    package func recorded(by recorder: HistoryRecorder, deviceID: String) -> HostClient {
        if let keeper = turns as? any HistoryKeeping {
            var host = keeper.keeping(in: recorder)
            host.projects = host.projects.map {
                RecordedProjects(
                    base: $0,
                    recorder: recorder,
                    isWhole: !keeper.keepsChats,
                    certainChats: keeper.certainChats
                )
            }
            return host
        }
        var host = self
        host.projects = projects.map { RecordedProjects(base: $0, recorder: recorder) }
        host.chats = chats.map { RecordedChats(base: $0, recorder: recorder) }
        host.turns = turns.map { RecordedTurns(base: $0, recorder: recorder) }
        if let streamed = turns as? StreamedTurns, let chats = host.chats {
            host.turns = RecordedTurns(base: streamed.readingOn(in: chats), recorder: recorder)
        }
        host.devices = devices.map { RecordedDevices(base: $0, recorder: recorder, deviceID: deviceID) }
        if let events, let chats = host.chats, let projects = host.projects {
            host.events = RecordedEvents(base: events, recorder: recorder, projects: projects, chats: chats)
        }
        return host
    }
}

/// Turns that store the chat themselves, because their host returns no messages.
protocol HistoryKeeping: TurnRunning {
    /// Whether the chats are in the history alone: no list of them hides another. Default: false.
    var keepsChats: Bool { get }
    func keeping(in recorder: HistoryRecorder) -> HostClient
    /// All chats of a project, where they are known without a list of them. Default: none are.
    func certainChats(of project: CompanionProject) -> [CompanionChat]
}

extension HistoryKeeping {
    var keepsChats: Bool { false }
    func certainChats(of project: CompanionProject) -> [CompanionChat] { [] }
}

struct RecordedProjects: ProjectBrowsing {
    let base: any ProjectBrowsing
    let recorder: HistoryRecorder
    /// Whether chats that a list lacks are hidden.
    var isWhole = true
    /// All chats of a project, where they are known without a list of them.
    var certainChats: @Sendable (CompanionProject) -> [CompanionChat] = { _ in [] }

    func projects() async throws -> [CompanionProject] {
        let projects = try await base.projects()
        await recorder.history.use { store throws(HistoryError) in
            try await store.keep(projects: projects, of: recorder.host, at: recorder.now())
        }
        for project in projects {
            let chats = certainChats(project)
            if !chats.isEmpty { await keep(chats, of: project.id) }
        }
        return projects
    }

    func chats(projectID: String) async throws -> [CompanionChat] {
        let chats = try await base.chats(projectID: projectID)
        await keep(chats, of: projectID)
        return chats
    }

    private func keep(_ chats: [CompanionChat], of projectID: String) async {
        await recorder.history.use { store throws(HistoryError) in
            try await store.keep(
                chats: chats,
                projectID: projectID,
                isWhole: isWhole,
                of: recorder.host,
                at: recorder.now()
            )
        }
    }
}

struct RecordedChats: ChatBrowsing {
    let base: any ChatBrowsing
    let recorder: HistoryRecorder
    /// The chat and the cursor after the last page, and the id of that page's last message.
    private let last = NIOLockedValueBox<(chatID: String, cursor: String, messageID: String)?>(nil)

    init(base: any ChatBrowsing, recorder: HistoryRecorder) {
        (self.base, self.recorder) = (base, recorder)
    }

    func messagesPage(chatID: String, cursor: String?, limit: Int) async throws -> CompanionMessagesPageResponse {
        let page = try await base.messagesPage(chatID: chatID, cursor: cursor, limit: limit)
        await keep(page, at: cursor, of: chatID)
        return page
    }

    func lastPage(chatID: String, count: Int, limit: Int) async throws -> CompanionMessagesPageResponse? {
        guard let page = try await base.lastPage(chatID: chatID, count: count, limit: limit) else { return nil }
        await keep(page, at: page.firstCursor, of: chatID)
        return page
    }

    private func keep(_ page: CompanionMessagesPageResponse, at cursor: String?, of chatID: String) async {
        guard page.messages.dropped == 0 || !page.messages.elements.isEmpty else { return }
        // Hosts may ignore the limit. Others wait while a page is written, so not one of any size.
        guard page.messages.elements.count <= 10_000 else { return }
        let offset = cursor.map { Int($0) } ?? 0
        let before = last.withLockedValue(\.self).flatMap { last in
            cursor.map(last.cursor.isSame) == true && last.chatID.isSame(as: chatID) ? last.messageID : nil
        }
        if let next = page.nextCursor, let message = page.messages.elements.last {
            last.withLockedValue { $0 = (chatID, next, message.id) }
        }
        await recorder.history.use { store throws(HistoryError) in
            try await store.keep(
                messages: page.messages.elements,
                offset: offset,
                after: before,
                isEnd: page.nextCursor?.isEmpty ?? true,
                chatID: chatID,
                of: recorder.host,
                at: recorder.now()
            )
        }
    }
}

extension RecordedChats {
    /// More messages than a page has are not read at once.
    func knownEnd(chatID: String, count: Int) async -> HistoryPosition? {
        guard count <= MessagePages.pageSize else { return nil }
        return await recorder.position(in: chatID, count: max(count, 50))
    }
}

extension HistoryRecorder {
    /// Returns the position of the last messages of a chat that were read; nil if none were.
    fileprivate func position(in chatID: String, count: Int) async -> HistoryPosition? {
        let found = await history.use(create: false) { store throws(HistoryError) in
            try await store.position(hostID: host.id, chatID: chatID, count: count)
        }
        return (found ?? nil).map { HistoryPosition(cursor: $0.cursor, identifiers: $0.identifiers) }
    }
}

struct RecordedDevices: DeviceManaging {
    let base: any DeviceManaging
    let recorder: HistoryRecorder
    let deviceID: String

    func status() async throws -> CompanionStatusResponse { try await base.status() }
    func disconnect() async throws -> CompanionStatusResponse { try await base.disconnect() }
    func devices() async throws -> [CompanionDevice] { try await base.devices() }

    func revokeDevice(id: String) async throws -> CompanionStatusResponse {
        let status = try await base.revokeDevice(id: id)
        if id.isSame(as: deviceID) { await recorder.forget() }
        return status
    }
}

struct RecordedEvents: EventReporting {
    let base: any EventReporting
    let recorder: HistoryRecorder
    let projects: any ProjectBrowsing
    let chats: any ChatBrowsing

    func run(
        every interval: Duration,
        progress: LiveProgress,
        patience: Int?,
        _ take: (LiveEventStream.Output) async throws -> Void
    ) async throws {
        let changes = ChangedParts()
        changes.noteAll()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in changes.signals {
                    guard !Task.isCancelled else { return }
                    await read(changes.takeAll())
                }
            }
            defer { changes.finish() }
            try await base.run(every: interval, progress: progress, patience: patience) { output in
                try await take(output)
                if case .event(let event) = output { changes.note(event) }
            }
        }
    }

    /// Reads what is new in chats that were read before, and in lists.
    private func read(_ parts: Set<ChangedParts.Part>) async {
        for part in parts {
            do {
                switch part {
                case .all: try await catchUp()
                case .projects: _ = try await projects.projects()
                case .chats(let project): _ = try await projects.chats(projectID: project.text)
                case .messages(let chat): try await readOn(chat.text)
                }
            } catch {
                // The events themselves tell if the host is gone. What was missed is read with the next one.
            }
        }
    }

    /// The most chats in which is read on at the beginning.
    private static let mostChats = 50

    /// Reads what has become new since the host was asked last in chats that were read before.
    private func catchUp() async throws {
        let (history, host) = (recorder.history, recorder.host)
        let known = await history.use(create: false) { store throws(HistoryError) in
            try await store.readProjects(hostID: host.id)
        }
        for project in known ?? [] {
            try Task.checkCancellation()
            // One list that cannot be had keeps nothing else from being read.
            _ = try? await projects.chats(projectID: project)
        }
        let changed = await history.use(create: false) { store throws(HistoryError) in
            try await store.changedChats(hostID: host.id, limit: Self.mostChats)
        }
        for chat in changed ?? [] {
            try Task.checkCancellation()
            // The host may not have it any more.
            try? await readOn(chat)
        }
    }

    private func readOn(_ chat: String) async throws {
        guard let position = await recorder.position(in: chat, count: 50) else { return }
        _ = try await chats.messages(chatID: chat, after: position)
    }
}

/// The parts of a host that events report as changed and that were not read yet, each once.
private struct ChangedParts: Sendable {
    enum Part: Hashable {
        case all, projects, chats(ByteText), messages(ByteText)
    }

    private let parts = NIOLockedValueBox<Set<Part>>([])
    /// One for all parts that were added since the last one was taken.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func note(_ event: LiveEvent) {
        var new: Set<Part> = []
        let chat = event.chatId.map { Part.messages(ByteText($0)) }
        switch event.type {
        // What happened between the first reading and the beginning of the events was told to nobody.
        case .hello: new.insert(.all)
        case .projectChanged: new.insert(.projects)
        case .chatChanged:
            if let project = event.projectId { new.insert(.chats(ByteText(project))) }
            if let chat { new.insert(chat) }
        case .messageCreated, .turnFinished: if let chat { new.insert(chat) }
        default: break
        }
        guard !new.isEmpty else { return }
        parts.withLockedValue { $0.formUnion(new) }
        signal.yield()
    }

    /// Everything may have changed before the first event.
    func noteAll() {
        parts.withLockedValue { _ = $0.insert(.all) }
        signal.yield()
    }

    func takeAll() -> Set<Part> {
        parts.withLockedValue { parts in
            defer { parts = [] }
            return parts
        }
    }

    /// Lets what was noted be read, and nothing after that.
    func finish() { signal.finish() }
}
