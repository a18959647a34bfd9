import CompanionWire
import FoundationEssentials
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Runs the turns of all chats. A turn belongs to the host, not to the request that began it: its frames go to the
/// ``TurnEventLog``, and it is finished and stored when the client has long gone.
package final class TurnRunner: Sendable {
    /// Prompts that may wait for one chat.
    static let waitingPerChat = 8
    /// Prompts that may wait, for all chats.
    package static let waitingLimit = 64

    struct Job: Sendable {
        var turn: AgentTurn
        var project: ProjectCatalog.Project
        var model: String?
        /// The id of the device that asked.
        var device: String
        var feed: TurnFeed
        /// Has an element once the turn is to end before its time.
        var requests: AsyncStream<Ending>
        var request: AsyncStream<Ending>.Continuation
        /// The agent that answers.
        var agent: any Agent
        let takenAt = ContinuousClock.now
        /// When it will not be started any more.
        var startBefore: ContinuousClock.Instant
    }

    enum Ending: Sendable, Equatable {
        case finished
        case failed(String)
        /// The agent answers nobody until something is done at the host.
        case unavailable(String, CompanionErrorCode)
        case timedOut
        case tooLong
        case deviceGone
        case cancelled
        /// The database cannot store the turn's frames, so no reader would see them.
        case notStored
        case shuttingDown

        /// The final state of the turn.
        var state: TurnState {
            switch self {
            case .finished: .finished
            case .cancelled: .cancelled
            case .shuttingDown: .interrupted
            case .failed, .unavailable, .timedOut, .tooLong, .deviceGone, .notStored: .failed
            }
        }

        /// The code in the log; nil for an ending that is no error.
        var code: String? {
            switch self {
            case .finished, .cancelled: nil
            case .failed: "turn.failed"
            case .unavailable: "turn.agent_unavailable"
            case .timedOut: "turn.timed_out"
            case .tooLong: "turn.too_long"
            case .deviceGone: "turn.device_gone"
            case .notStored: "turn.not_stored"
            case .shuttingDown: "turn.interrupted"
            }
        }
    }

    /// Asks everyone who may answer an agent's question, and tells the turn's readers.
    typealias Ask = @Sendable (AgentQuestion, AgentTurn, @Sendable (TurnEvent) -> Void) async -> ApprovalAnswer

    let agent: any Agent
    let ask: Ask
    /// The sessions of chats in projects under git; nil for a host that keeps none.
    let sessions: GitSessions?
    let store: CompanionHostStore
    let log: TurnEventLog
    let timeout: Duration
    let events: HostEventSink
    let logger: Logger
    let revocations: RevocationCenter
    let clock: HostClock
    /// When a device's time is over; nil without end.
    let expiry: @Sendable (String) -> Date?
    /// Whether a device may have turns now: a v2 device that is not revoked, or the connected one of v1. Called with
    /// the queue's lock held.
    let mayWork: @Sendable (String) -> Bool
    private let queue: NIOLockedValueBox<TurnQueue<Job>>
    private let jobs: AsyncStream<Job>
    private let jobSource: AsyncStream<Job>.Continuation
    let watches: TurnWatches

    init(
        agent: any Agent,
        ask: @escaping Ask = { question, _, _ in question.rejection },
        sessions: GitSessions? = nil,
        store: CompanionHostStore,
        log: TurnEventLog,
        timeout: Duration,
        events: HostEventSink,
        logger: Logger,
        revocations: RevocationCenter,
        clock: HostClock,
        expiry: @escaping @Sendable (String) -> Date?,
        mayWork: @escaping @Sendable (String) -> Bool
    ) {
        self.mayWork = mayWork
        self.expiry = expiry
        self.revocations = revocations
        self.clock = clock
        watches = TurnWatches()
        self.agent = agent
        queue = NIOLockedValueBox(
            TurnQueue(waitingPerChat: Self.waitingPerChat, running: agent.turnLimit, waiting: Self.waitingLimit)
        )
        self.ask = ask
        self.sessions = agent.changesFiles ? sessions : nil
        self.store = store
        self.log = log
        self.timeout = timeout
        self.events = events
        self.logger = logger
        (jobs, jobSource) = AsyncStream.makeStream()
    }

    /// Takes a turn: it starts at once, or when the turns before it in its chat have ended and fewer run
    /// than the agent answers at once.
    ///
    /// - Parameters:
    ///   - device: The id of the device that asks. Its turns end when it may not have any more.
    ///   - id: The turn's id. Default: a new one.
    /// - Returns: The turn's id, once the turn is stored. Its frames are in the ``TurnEventLog``; the last is `.done`
    ///   or `.failed`.
    /// - Throws: ``HostError`` when the turn was not accepted: `chat.busy` when too many wait, `request.forbidden` when
    ///   the device was disconnected just now. ``CompanionHostError`` when it cannot be stored: it does not run then.
    ///   `CancellationError` when the task was cancelled: the turn goes on.
    @discardableResult
    func submit(
        _ turn: AgentTurn,
        project: ProjectCatalog.Project,
        model: String?,
        device: String,
        id: String = UUID().uuidString.lowercased()
    ) async throws -> String {
        let (requests, request) = AsyncStream.makeStream(of: Ending.self, bufferingPolicy: .bufferingOldest(1))
        var turn = turn
        turn.id = id
        turn.model = model ?? ""
        turn.project = project.path
        let job = Job(
            turn: turn,
            project: project,
            model: model,
            device: device,
            feed: TurnFeed(id: id, chatID: turn.chatID) { [queue] in
                request.yield(.notStored)
                // One that waits will not start; one that runs counts until its agent is gone.
                _ = queue.withLockedValue { $0.remove { $0.feed.id == id } }
            },
            requests: requests,
            request: request,
            agent: agent.member(answering: model ?? ""),
            startBefore: .now + timeout * 5
        )
        watches.watch(device, until: expiry(device))
        // Under the same lock as in `endTurnsOfOthers`: no turn slips in behind it, and the log knows a turn before
        // anybody can end it.
        let admission = queue.withLockedValue { queue -> TurnQueue<Job>.Admission? in
            guard mayWork(device) else { return nil }
            let admission = queue.admit(job, chatID: turn.chatID, owner: device)
            if admission == .start || admission == .wait { log.open(job.feed, device: device) }
            if admission == .wait {
                log.publish(.status("Waiting for the answer before this one"), in: job.feed)
            }
            return admission
        }
        switch admission {
        case .start: start(job)
        case .wait: break
        case .refuse:
            throw HostError(.chatBusy, "Too many prompts wait for this chat: try again later", variant: .textOnlyInV1)
        case .refuseAny:
            throw HostError(.chatBusy, "Too many prompts wait at this host: try again later", variant: .textOnlyInV1)
        case nil:
            throw HostError(
                .requestForbidden,
                CompanionErrorResponse.Text.noDeviceConnected,
                variant: .textOnlyInV1
            )
        }
        try await job.feed.waitUntilOpened()
        return id
    }

    /// Ends a turn that waits or runs; the answer so far is stored. An unknown or ended one is left as it is.
    ///
    /// - Returns: The turn as it is now; nil when there is no such turn in the chat.
    func cancel(turnID: String, chatID: String) async throws -> TurnSummary? {
        let found = queue.withLockedValue { queue in
            queue.remove { $0.feed.id == turnID && $0.turn.chatID == chatID }
        }
        for job in found.waiting { end(job, as: .cancelled) }
        for job in found.running { job.request.yield(.cancelled) }
        for job in found.waiting + found.running { _ = try await job.feed.waitForEnd() }
        let turn = try await log.turn(id: turnID)
        return turn?.chatId == chatID ? turn : nil
    }

    /// The id of the turn that runs in a chat.
    func runningTurn(chatID: String) -> String? {
        queue.withLockedValue { $0.running(chatID: chatID)?.feed.id }
    }

    /// Whether a chat has a turn that runs or waits.
    func isBusy(chatID: String) -> Bool {
        queue.withLockedValue { $0.isBusy(chatID: chatID) }
    }

    /// Runs a body while no turn runs in a chat; prompts that come meanwhile wait.
    ///
    /// - Returns: nil, without running the body, for a chat that has a turn.
    func pausing<R>(chatID: String, _ body: () async throws -> R) async rethrows -> R? {
        guard queue.withLockedValue({ $0.hold(chatID: chatID) }) else { return nil }
        defer {
            if let next = queue.withLockedValue({ $0.release(chatID: chatID) }) { start(next) }
        }
        return try await body()
    }

    /// Ends the turns of devices that may have none now: waiting ones do not start, and the answers of running ones are
    /// stored as far as they have come. To be called whenever the connection has changed or a device was revoked.
    func endTurnsOfOthers() {
        let ended = queue.withLockedValue { $0.keep(where: mayWork) }
        for job in ended.waiting { end(job, as: .deviceGone) }
        for job in ended.running { job.request.yield(.deviceGone) }
    }

    private func start(_ job: Job) {
        guard case .terminated = jobSource.yield(job) else { return }
        end(job, as: .shuttingDown)
    }

    /// Runs turns until the host ends; answers are then stored as far as they have come.
    package func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.watchDevices() }
            group.addTask { await cancelWhenGracefulShutdown { await self.agent.run() } }
            // Until the jobs have ended: some of the others end of themselves, some when they are cancelled.
            await self.runJobs()
            group.cancelAll()
        }
        await log.drain()
    }

    private func runJobs() async {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for await job in jobs {
                    group.addTask {
                        await self.perform(job)
                        if let next = self.queue.withLockedValue({ $0.finish(chatID: job.turn.chatID) }) {
                            self.start(next)
                        }
                    }
                }
            }
        } onCancelOrGracefulShutdown: {
            for job in self.queue.withLockedValue({ $0.stop() }) { self.end(job, as: .shuttingDown) }
            self.jobSource.finish()
        }
    }

    /// Ends the turns of devices whose time is over, until the task is cancelled.
    func watchDevices() async {
        await withDiscardingTaskGroup { group in
            for await watch in watches.stream {
                group.addTask { await self.follow(watch) }
            }
            group.cancelAll()
        }
    }

    private func follow(_ watch: TurnWatches.Watch) async {
        while !Task.isCancelled {
            // In this order: whatever changes after one of these is noticed by one behind it.
            let epoch = revocations.epoch(of: watch.device)
            let now = clock.now()
            let end = expiry(watch.device)
            guard watches.renew(watch, until: end) else { return }
            endTurnsOfOthers()
            // An end in the past has been handled: only a new pairing changes it.
            let next = end.flatMap { $0 > now ? $0 : nil }
            await revocations.waitForEnd(of: watch.device, since: epoch, until: next)
        }
    }
}
