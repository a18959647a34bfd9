import CompanionWire
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

extension TurnRunner {
    static let shutdownText = "The host is shutting down"
    /// The last message of a turn whose device was revoked, disconnected, or is past its time.
    package static let deviceGoneText = "This device is no longer connected to the host"
    /// The last message of a turn that was cancelled.
    package static let cancelledText = "The turn was cancelled"

    /// Writes a turn's last frame, and ends its log.
    ///
    /// - Parameter text: The answer as far as it has come, which the chat keeps together with the end of the turn.
    /// - Parameter changed: How many files the agent has changed; nil where it is not known.
    func end(_ job: Job, as ending: Ending, text: String = "", changed: Int? = nil) {
        let outcome = ending.state
        let answer = text.isEmpty ? nil : answer(job, text: text, isInterrupted: outcome == .interrupted)
        let last = lastEvent(of: ending, by: job.agent, files: changed.flatMap { $0 > 0 ? $0 : nil })
        log.end(job.feed, with: last, as: outcome, answer: answer)
        logger.info(
            "turn",
            metadata: .event(
                "command",
                outcome: outcome.rawValue,
                code: ending.code,
                latency: .now - job.takenAt,
                device: job.device,
                ["chat": "\(job.turn.chatID)"]
            )
        )
    }

    func perform(_ job: Job) async {
        do {
            // A prompt is not executed before its turn is stored.
            try await job.feed.waitUntilOpened()
        } catch is CancellationError {
            return end(job, as: .shuttingDown)
        } catch {
            return
        }
        guard mayWork(job.device) else { return end(job, as: .deviceGone) }
        guard job.startBefore > .now else {
            return end(job, as: .failed("The answer before this one took too long: the prompt was not taken"))
        }
        let chatID = job.turn.chatID
        do {
            try await store.append(
                role: .user,
                text: job.turn.prompt,
                chatID: chatID,
                project: job.project,
                title: CompanionHostStore.title(prompt: job.turn.prompt),
                model: job.model.flatMap { agent.owner(of: $0) == nil ? nil : $0 }
            ) { [id = job.feed.id] in try TurnEventLog.run(id, in: $0) }
        } catch {
            logger.error("prompt not stored", metadata: .failure(error, ["chat": "\(chatID)"]))
            return end(job, as: .failed("The prompt could not be stored"))
        }
        // As on deployed hosts, the prompt is stored before the model is looked at.
        guard let model = job.model, !model.isEmpty else { return end(job, as: .failed("Model is required")) }
        guard agent.models.contains(where: { $0.id == model }) else { return end(job, as: .failed("Unknown model")) }
        logger.info(
            "turn",
            metadata: .event(
                "command",
                outcome: "started",
                latency: .now - job.takenAt,
                device: job.device,
                ["chat": "\(chatID)"]
            )
        )
        let mode = try? await store.mode(ofChat: chatID)
        let title = try? await store.title(ofChat: chatID)
        events.send(
            .turnStarted(
                TurnStart(chatID: chatID, title: title, turnID: job.feed.id, device: job.device, mode: mode)
            )
        )
        let state = await work(job, mode: mode)
        events.send(.turnFinished(chatID: chatID, turnID: job.feed.id, state: state))
    }

    /// Lets the agent answer where the chat works.
    ///
    /// - Parameter mode: The chat's, as far as it is known.
    private func work(_ job: Job, mode: AgentMode?) async -> TurnState {
        let start = NIOLockedValueBox<GitSessions.Start?>(nil)
        let state = await answer(job, mode: mode, noting: start)
        await start.withLockedValue { $0 }?.snapshot?.remove()
        return state
    }

    /// Finds out where a turn's agent works, and notes it. While that lasts, the agent is not silent.
    private func begin(
        _ job: Job,
        sink: AnswerSink,
        noting start: NIOLockedValueBox<GitSessions.Start?>
    ) async throws -> AgentTurn {
        guard let sessions, job.agent.changesFiles else { return job.turn }
        let begun = try await sink.waiting {
            try await sessions.begin(job.turn, project: job.project) { [agent = job.agent] chat in
                agent.forget(chat: chat)
            } say: { text in
                sink.emit(.status(text))
            }
        }
        start.withLockedValue { $0 = begun }
        var turn = job.turn
        turn.directory = begun.directory
        return turn
    }

    /// Runs the agent, watches it, stores what it said. Returns when the agent has ended.
    private func answer(
        _ job: Job,
        mode: AgentMode?,
        noting start: NIOLockedValueBox<GitSessions.Start?>
    ) async -> TurnState {
        let (overflows, overflow) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let told = NIOLockedValueBox(mode)
        let sink = AnswerSink(
            publish: { [log] frame in
                log.publish(frame, in: job.feed) {
                    if case .mode(let mode) = frame { self.tell(mode, of: job, after: told) }
                }
                if case .question(let notice) = frame, notice.phase == .continued {
                    self.events.send(
                        .questionContinued(notice, chatID: job.turn.chatID, turnID: job.feed.id)
                    )
                }
            },
            overflow: { overflow.yield() }
        )
        return await withTaskGroup(of: Ending.self) { group in
            group.addTask { [agent = job.agent, ask] in
                do {
                    let turn = try await self.begin(job, sink: sink, noting: start)
                    let conversation = AgentConversation(
                        emit: sink.emit,
                        notice: sink.notice,
                        keepAlive: sink.keepAlive
                    ) { question in
                        var asking = turn
                        asking.mode = sink.mode
                        return await sink.waiting { [asking] in await ask(question, asking, sink.emit) }
                    }
                    try await agent.answer(turn, conversation: conversation)
                    return .finished
                } catch let error as AgentError {
                    return error.code.map { .unavailable(error.message, $0) } ?? .failed(error.message)
                } catch is CancellationError {
                    return .shuttingDown
                } catch {
                    return Task.isCancelled ? .shuttingDown : .failed("The agent failed")
                }
            }
            group.addTask { await self.watch(sink) }
            group.addTask {
                for await ending in job.requests { return ending }
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
            let text = sink.close(isComplete: ending == .finished)
            let changed = await self.count(ending, since: start.withLockedValue { $0 })
            // The readers and the history get the end soon; the agent may need seconds to exit.
            self.end(job, as: ending, text: text, changed: changed)
            // Readers see the end only once it is stored, so a crash cannot take it back.
            return (try? await job.feed.waitForEnd()) ?? .failed
        }
    }

    /// Reports a mode that differs from the last one reported.
    private func tell(_ mode: AgentMode, of job: Job, after told: NIOLockedValueBox<AgentMode?>) {
        let isNew = told.withLockedValue { last in
            defer { last = mode }
            return last?.name.isSame(as: mode.name) != true
        }
        guard isNew else { return }
        events.send(.modeChanged(chatID: job.turn.chatID, projectID: job.project.id, mode: mode))
    }

    /// How many files a turn has changed so far, unless nobody is to wait for that.
    private func count(_ ending: Ending, since start: GitSessions.Start?) async -> Int? {
        switch ending {
        case .finished, .failed, .unavailable, .timedOut, .tooLong, .cancelled: break
        case .deviceGone, .notStored, .shuttingDown: return nil
        }
        guard let sessions, let start else { return nil }
        return await sessions.count(since: start)
    }

    /// Returns when the agent has been silent for too long, or the task is cancelled.
    private func watch(_ sink: AnswerSink) async -> Ending {
        while true {
            let rest = timeout - sink.silence
            guard rest > .zero else { return .timedOut }
            guard (try? await Task.sleep(for: rest)) != nil else { return .shuttingDown }
        }
    }

    private func answer(_ job: Job, text: String, isInterrupted: Bool) -> TurnEventLog.Answer {
        let message = MessageDraft(
            role: .assistant,
            text: text,
            chatID: job.turn.chatID,
            projectID: job.project.id,
            title: CompanionHostStore.title(prompt: job.turn.prompt),
            at: clock.now(),
            isInterrupted: isInterrupted
        )
        return TurnEventLog.Answer(message: message, device: job.device) { [live = store.live] in
            CompanionHostStore.announce(message, projectID: $0, to: live)
        }
    }

    /// - Parameter files: How many files the agent has changed; nil for none, and where it is not known.
    private func lastEvent(of ending: Ending, by agent: any Agent, files: Int?) -> TurnEvent {
        let text: String
        switch ending {
        case .finished: return .done(files: files)
        case .unavailable(let message, let code): return .failed(TurnFailure(message, files: files, code: code))
        case .failed(let message): text = message
        case .timedOut: text = agent.silenceText(timeout)
        case .tooLong:
            let limit = "\(AnswerSink.maximumSize >> 20) MiB or \(AnswerSink.usualEvents) pieces"
            text = "The answer is over \(limit): the rest was cut off"
        case .deviceGone: text = Self.deviceGoneText
        case .cancelled: text = Self.cancelledText
        case .notStored: text = TurnEventLog.notStoredText
        case .shuttingDown: text = Self.shutdownText
        }
        return .failed(TurnFailure(text, files: files))
    }
}
