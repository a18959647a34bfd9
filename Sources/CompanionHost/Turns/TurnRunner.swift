import CompanionWire
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Runs the turns of all chats. A turn belongs to the host, not to the request that began it: it is finished and
/// stored when the client has long gone.
package final class TurnRunner: Sendable {
    /// Prompts that may wait for one chat.
    static let waitingPerChat = 8
    /// Turns that may run at the same time, of all chats.
    package static let runningLimit = 8
    /// Prompts that may wait, for all chats.
    package static let waitingLimit = 64

    private struct Job: Sendable {
        var turn: AgentTurn
        var project: ProjectCatalog.Project
        var model: String?
        /// The id of the device that asked.
        var device: String
        var client: AsyncStream<ContinueChatEvent>.Continuation
        /// Has an element once the device is not connected any more.
        var removals: AsyncStream<Void>
        var removal: AsyncStream<Void>.Continuation
        /// When it will not be started any more.
        var startBefore: ContinuousClock.Instant
    }

    private enum Ending: Sendable, Equatable {
        case finished
        case failed(String)
        case timedOut
        case tooLong
        case deviceGone
        case shuttingDown
    }

    private let agent: any Agent
    private let store: CompanionHostStore
    private let timeout: Duration
    private let events: HostEventSink
    private let logger: Logger
    /// Whether a device may have turns now: a v2 device that is not revoked, or the connected one of v1. Called with
    /// the queue's lock held.
    private let mayWork: @Sendable (String) -> Bool
    private let queue = NIOLockedValueBox(
        TurnQueue<Job>(waitingPerChat: waitingPerChat, running: runningLimit, waiting: waitingLimit)
    )
    private let jobs: AsyncStream<Job>
    private let jobSource: AsyncStream<Job>.Continuation

    init(
        agent: any Agent,
        store: CompanionHostStore,
        timeout: Duration,
        events: HostEventSink,
        logger: Logger,
        mayWork: @escaping @Sendable (String) -> Bool
    ) {
        self.mayWork = mayWork
        self.agent = agent
        self.store = store
        self.timeout = timeout
        self.events = events
        self.logger = logger
        (jobs, jobSource) = AsyncStream.makeStream()
    }

    /// Takes a turn: it starts at once, or when the turns before it in its chat have ended and fewer than
    /// ``runningLimit`` run.
    ///
    /// - Parameter device: The id of the device that asks. Its turns end when it may not have any more.
    /// - Returns: The frames for the client; they end with `.done` or `.error`.
    /// - Throws: 409 when too many wait, 403 when the device was disconnected in this moment.
    func submit(
        _ turn: AgentTurn,
        project: ProjectCatalog.Project,
        model: String?,
        device: String
    ) throws(HostResponseError) -> AsyncStream<ContinueChatEvent> {
        // Bounded by the size that an answer may have.
        let (stream, client) = AsyncStream.makeStream(of: ContinueChatEvent.self)
        let (removals, removal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let job = Job(
            turn: turn,
            project: project,
            model: model,
            device: device,
            client: client,
            removals: removals,
            removal: removal,
            startBefore: .now + timeout * 5
        )
        // Under the same lock as in `endTurnsOfOthers`: no turn slips in behind it.
        let admission = queue.withLockedValue { queue -> TurnQueue<Job>.Admission? in
            guard mayWork(device) else { return nil }
            return queue.admit(job, chatID: turn.chatID, owner: device)
        }
        switch admission {
        case .start: start(job)
        case .wait: client.yield(.status(label: "Waiting for the answer before this one"))
        case .refuse: throw HostResponseError(.conflict, HostErrorText.chatBusy)
        case .refuseAny: throw HostResponseError(.conflict, HostErrorText.hostBusy)
        case nil: throw HostResponseError(.forbidden, CompanionErrorResponse.Text.noDeviceConnected)
        }
        return stream
    }

    /// Ends the turns of devices that may have none now: waiting ones do not start, running ones are stored with
    /// what they have. To be called whenever the connection has changed or a device was revoked.
    func endTurnsOfOthers() {
        let ended = queue.withLockedValue { $0.keep(where: mayWork) }
        for job in ended.waiting { end(job, text: Self.deviceGoneText) }
        for job in ended.running { job.removal.yield() }
    }

    private func start(_ job: Job) {
        guard case .terminated = jobSource.yield(job) else { return }
        end(job, text: Self.shutdownText)
    }

    private func end(_ job: Job, text: String) {
        job.client.yield(.error(text))
        job.client.finish()
    }

    /// Runs turns until the host ends; running ones are then stored with what they have.
    package func run() async {
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
            for job in self.queue.withLockedValue({ $0.stop() }) { self.end(job, text: Self.shutdownText) }
            self.jobSource.finish()
        }
    }

    static let shutdownText = "The host is shutting down"
    package static let deviceGoneText = "This device is not connected to the host any more"

    private func perform(_ job: Job) async {
        defer { job.client.finish() }
        guard mayWork(job.device) else {
            job.client.yield(.error(Self.deviceGoneText))
            return
        }
        guard job.startBefore > .now else {
            job.client.yield(.error("The answer before this one took too long: the prompt was not taken"))
            return
        }
        let chatID = job.turn.chatID
        do {
            try await store.append(
                role: .user,
                text: job.turn.prompt,
                chatID: chatID,
                project: job.project,
                title: CompanionHostStore.title(prompt: job.turn.prompt)
            )
        } catch {
            logger.error("prompt not stored", metadata: ["chat": "\(chatID)", "reason": "\(error)"])
            job.client.yield(.error("The prompt could not be stored"))
            return
        }
        // As on deployed hosts, the prompt is stored before the model is looked at.
        guard let model = job.model, !model.isEmpty else {
            job.client.yield(.error("Model is required"))
            return
        }
        guard agent.models.contains(where: { $0.id == model }) else {
            job.client.yield(.error("Unknown model"))
            return
        }
        logger.info("turn started", metadata: ["chat": "\(chatID)"])
        events.send(.turnStarted(chatID: chatID))
        let ok = await answer(job)
        logger.info("turn finished", metadata: ["chat": "\(chatID)", "ok": "\(ok)"])
        events.send(.turnFinished(chatID: chatID, ok: ok))
    }

    /// Runs the agent, watches it, stores what it said. Returns when the agent is gone.
    private func answer(_ job: Job) async -> Bool {
        let (overflows, overflow) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let sink = AnswerSink(client: job.client) { overflow.yield() }
        return await withTaskGroup(of: Ending.self) { group in
            group.addTask { [agent] in
                do {
                    try await agent.answer(job.turn, emit: sink.emit)
                    return .finished
                } catch let error as AgentError {
                    return .failed(error.message)
                } catch {
                    return Task.isCancelled ? .shuttingDown : .failed("The agent failed")
                }
            }
            group.addTask { await self.watch(sink) }
            group.addTask {
                for await _ in job.removals { return .deviceGone }
                return .shuttingDown
            }
            group.addTask {
                for await _ in overflows { return .tooLong }
                return .shuttingDown
            }
            group.addTask {
                try? await gracefulShutdown()
                return .shuttingDown
            }
            let ending = await group.next() ?? .shuttingDown
            group.cancelAll()
            // The client and the history hear of it at once; the agent may need seconds to go.
            return await self.conclude(job, text: sink.close(), ending: ending)
        }
    }

    /// Returns when the agent has been silent for too long, or the task is cancelled.
    private func watch(_ sink: AnswerSink) async -> Ending {
        while true {
            let rest = timeout - sink.silence
            guard rest > .zero else { return .timedOut }
            guard (try? await Task.sleep(for: rest)) != nil else { return .shuttingDown }
        }
    }

    private func conclude(_ job: Job, text: String, ending: Ending) async -> Bool {
        if !text.isEmpty {
            do {
                try await store.append(
                    role: .assistant,
                    text: text,
                    chatID: job.turn.chatID,
                    project: job.project,
                    title: CompanionHostStore.title(prompt: job.turn.prompt)
                )
            } catch {
                logger.error("answer not stored", metadata: ["chat": "\(job.turn.chatID)", "reason": "\(error)"])
                job.client.yield(.error("The answer could not be stored"))
                job.client.finish()
                return false
            }
        }
        job.client.yield(frame(of: ending))
        job.client.finish()
        return ending == .finished
    }

    private func frame(of ending: Ending) -> ContinueChatEvent {
        switch ending {
        case .finished: return .done
        case .failed(let message): return .error(message)
        case .timedOut:
            let (seconds, attoseconds) = timeout.components
            let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
            return .error("Copilot response timed out after \(milliseconds)ms")
        case .tooLong: return .error("The answer is over \(AnswerSink.maximumSize >> 20) MiB: the rest was cut off")
        case .deviceGone: return .error(Self.deviceGoneText)
        case .shuttingDown: return .error(Self.shutdownText)
        }
    }
}
