package import CompanionClient
package import CompanionWire
package import FoundationEssentials
import Identity
import LocalState
import NIOConcurrencyHelpers
package import PairingAgent

/// Sends the prompts that wait for a host: oldest first, each once.
///
/// At a host of protocol v2 a prompt stays `waiting` until the host has taken it: each attempt sends the same signed
/// command, which the host executes once. At other hosts it is marked `uncertain` on the disk before its first byte is
/// sent, and is put back only if it is certain that the host has not got it.
package struct OutboxSender {
    package enum Mode {
        /// Waits for the answers and shows them.
        case showing(TurnView)
        /// Waits for the answers and says that they are there.
        case waiting(asksUser: Bool)
        /// Leaves the answers to the host as soon as it has the prompts. Those that need their sender wait.
        case leaving

        var isLeaving: Bool { if case .leaving = self { true } else { false } }
    }

    let session: HostSession
    let mode: Mode
    private let store: OutboxStore
    /// Whether the user wanted a turn cancelled.
    private let wasInterrupted = NIOLockedValueBox(false)

    package init(_ session: HostSession, mode: Mode) {
        self.session = session
        self.mode = mode
        store = session.outbox
    }

    private var interaction: any Interaction { session.interaction }
    private var lockPath: String {
        "\(session.environment.paths.runtime)/outbox-\(DeviceIdentity.shortHash(session.host.id)).lock"
    }

    /// The outcome of sending.
    package struct Outcome {
        /// How the prompts that were not answered failed.
        package var failures: [AppError.Kind] = []
        /// The answer to the last prompt.
        package var answer: String?
        /// Whether the user wanted a prompt cancelled at the host. Nothing was sent after it.
        package var isCancelled: Bool { failures.contains(.interrupted) }
        /// The chats in which a prompt waits still: those behind it may not go out before it.
        package fileprivate(set) var stuck: Set<ByteText> = []
        /// The chats that were created: their ids at the host and their titles, by the ids that prompts used for them
        /// before.
        package fileprivate(set) var newChats: [UUID: (id: String, title: String)] = [:]
    }

    /// Sends the prompts that wait, unless another process does so.
    ///
    /// - Throws: The error that keeps the host from taking any prompt; the prompts keep waiting.
    @discardableResult
    package func send(where isWanted: (WaitingPrompt) -> Bool = { _ in true }) async throws -> Outcome {
        if mode.isLeaving {
            guard let lock = try FileLock.take(ifFree: lockPath) else { return Outcome() }
            defer { withExtendedLifetime(lock) {} }
            return try await sendAll(isWanted)
        }
        let notice = "Another pairtool is sending the waiting prompts. Waiting for it."
        var hasLock = false
        do {
            return try await FileLock.with(lockPath, onWait: { interaction.say(notice) }) { _ in
                hasLock = true
                return try await sendAll(isWanted)
            }
        } catch  where Task.isCancelled && !hasLock {
            interaction.say("Stopped; nothing was sent.")
            throw error
        }
    }

    private func sendAll(_ isWanted: (WaitingPrompt) -> Bool) async throws -> Outcome {
        var (outcome, tried) = (Outcome(), Set<ByteText>())
        while let next = try store.load().prompts.first(where: { prompt in
            prompt.state == .waiting && !tried.contains(ByteText(prompt.id)) && isWanted(prompt)
                && outcome.stuck.isDisjoint(with: prompt.chatKeys)
        }) {
            tried.insert(ByteText(next.id))
            if mode.isLeaving, next.needsSender(at: session.host) {
                outcome.stuck.formUnion(next.chatKeys)
                continue
            }
            do {
                outcome.answer = try await deliver(next) { chat in
                    // The first prompt names the chat.
                    if let key = next.newChatID, outcome.newChats[key] == nil { outcome.newChats[key] = chat }
                }
            } catch is TurnLock.Taken {
            } catch is TurnCancelled {
            } catch let error as CompanionClientError {
                outcome.failures.append(AppError(describing: error).kind)
                try settle(next, after: error)
            } catch let error as AppError where error.kind == .nothingFound {
                outcome.failures.append(error.kind)
                try store.update { $0.refuse(next.id, because: error.message) }
                interaction.report(error)
            }
            // Whoever wanted one cancelled wants no other one sent, whatever came of it.
            guard !wasInterrupted.withLockedValue(\.self) else {
                outcome.failures.append(.interrupted)
                return outcome
            }
            // A chat has one turn at a time, and takes its prompts in their order.
            let now = try store.load().prompts.first { $0.id.isSame(as: next.id) }
            if mode.isLeaving || now?.state == .waiting { outcome.stuck.formUnion((now ?? next).chatKeys) }
        }
        return outcome
    }

    /// - Parameter made: Called with the prompt's chat, and the title that it has if it was created for the prompt.
    /// - Returns: The answer; nil if it is left to the host.
    private func deliver(
        _ waiting: WaitingPrompt,
        made: ((id: String, title: String)) -> Void
    ) async throws -> String? {
        let turns = try session.turns
        do {
            try await turns.requireOwnPlace()
        } catch let error as CompanionClientError {
            throw error.naming(session.host)
        }
        let chatID: String
        let title = ChatTitle.of(waiting.prompt)
        if let known = waiting.chat {
            chatID = known
        } else {
            chatID = try await turns.makeChat(projectID: waiting.projectID ?? "", title: title)
            try store.update { $0.setChat(chatID, of: waiting.id, at: session.environment.now()) }
        }
        made((chatID, title))
        let path = waiting.workingDirectory
        let request = TurnRequest(
            prompt: waiting.prompt,
            model: try await session.model(waiting.model),
            projectPath: path.isEmpty ? nil : path,
            allowedTools: waiting.allowedTools,
            deniesQuestions: waiting.deniesQuestions
        )
        let age = Duration.seconds(Int64(max(0, session.environment.now().timeIntervalSince(waiting.writtenAt))))
            .roughly
        switch mode {
        case .showing: interaction.say("› \(waiting.excerpt)")
        case .waiting: interaction.say("Sending the prompt written \(age) ago: \(waiting.excerpt)")
        case .leaving: break
        }
        do {
            return try await run(request, of: waiting, in: chatID)
        } catch is TurnLock.TurnLeft {
            let (name, id) = (session.host.name, chatID.shortID)
            let what = "\(name) has the prompt written \(age) ago: \(waiting.excerpt) (pairtool messages \(id))"
            interaction.say(TerminalText.line(what))
            return nil
        }
    }

    /// Runs a turn that Ctrl-C cancels at the host, as in `pairtool send`, unless its answer is left to the host.
    private func run(_ request: TurnRequest, of waiting: WaitingPrompt, in chatID: String) async throws -> String {
        var loop = TurnLoop(
            session: session,
            chatID: chatID,
            title: waiting.chatTitle ?? "",
            request: request,
            journal: PromptJournal(waiting, in: store),
            asksUser: false,
            isLeft: mode.isLeaving
        )
        switch mode {
        case .showing(let view): (loop.view, loop.asksUser) = (view, view.asksUser)
        case .waiting(let asksUser): loop.asksUser = asksUser
        case .leaving: return try await loop.run(nil).answer
        }
        let turn = CancellableTurn(session, chatID: chatID)
        defer { if turn.wasInterrupted { wasInterrupted.withLockedValue { $0 = true } } }
        do {
            let answer = try await loop.run(turn, takesInterrupts: true).answer
            if case .waiting = mode, !answer.isEmpty {
                interaction.say("Its answer: \(TerminalText.line(answer).scalars(atMost: 100))")
            }
            return answer
        } catch  where Task.isCancelled {
            // What the host does not have yet is in the outbox.
            if turn.hasBegun { interaction.say(turn.stopped) }
            throw error
        }
    }

    /// Decides what becomes of a prompt after an error.
    ///
    /// - Throws: The error if other prompts would fail in the same way.
    private func settle(_ waiting: WaitingPrompt, after error: CompanionClientError) throws {
        let state = try store.load().prompts.first { $0.id.isSame(as: waiting.id) }?.state
        // The prompt is gone from here, or the next one may do better.
        var isOfPrompt = state == nil || error.code == .busy
        switch error.code {
        case _ where state == nil: break
        // Whether the host has it is the user's to say.
        case _ where state == .uncertain && (error.delivery == .unknown || error.code == .streamInterrupted): break
        case .hostError where error.delivery == .answered, .streamInterrupted where error.delivery == .answered:
            try store.update { $0.finish(waiting.id) }
            isOfPrompt = true
        case .badRequest, .notFound, .tooLarge, .hostError:
            try store.update { $0.refuse(waiting.id, because: error.description) }
            isOfPrompt = true
        case _ where error.isRefusal && state == .uncertain: try store.update { $0.putBack(waiting.id) }
        default: break
        }
        let isAway = state == .waiting && [.unreachable, .timedOut].contains(error.code)
        guard !isOfPrompt, isAway || error.isRefusal else { return interaction.report(error) }
        throw error
    }
}

extension CompanionClientError {
    /// Whether it is certain that the host has not got the prompt, and may take it another time.
    fileprivate var isRefusal: Bool {
        if delivery == .notSent { return isCertainlyNotSent }
        let refusals: [Code] = [
            .notPaired, .superseded, .hostSignedOut, .busy, .revoked, .forbidden, .sessionExpired, .unsupportedVersion,
        ]
        return delivery == .answered && refusals.contains(code)
    }
}

extension HostSession {
    /// Sends what waits for the host, and leaves the answers to it. The command goes on if that fails.
    package func sendWaiting() async {
        guard !waitingPrompts.isEmpty, !Task.isCancelled else { return }
        do {
            try await OutboxSender(self, mode: .leaving).send()
        } catch {
            await environment.endPairing(with: host, ifRevokedBy: error)
            guard !Task.isCancelled else { return }
            let failure = AppError(describing: error).adding("Prompts for \(host.name) keep waiting.")
            // Hosts come into sight again and again.
            interaction.warn(failure, once: true)
            return
        }
        if waitingPrompts.contains(where: { $0.needsSender(at: host) }) { sayWaiting() }
    }

    /// Sends what waits for a chat, before something else is sent there.
    ///
    /// - Returns: The chat, if it was created for a prompt that waited, also by another process; its title, if it was
    ///   created here.
    /// - Throws: ``AppError`` with the code `outbox.stuck` if a prompt of the chat waits still.
    @discardableResult
    package func sendWaiting(before conversation: Conversation) async throws -> (id: String, title: String?)? {
        let keys = Set(conversation.chatKeys)
        // Nothing else sends what waits for hosts whose answers have to be read.
        let sendsAll = host.family.behavior.facts.queuing == .untilAnswered
        let isWanted: (WaitingPrompt) -> Bool = { sendsAll || !keys.isDisjoint(with: $0.chatKeys) }
        guard waitingPrompts.contains(where: isWanted) else { return madeChat(of: conversation) }
        let outcome = try await OutboxSender(self, mode: .waiting(asksUser: conversation.view.asksUser)).send(
            where: isWanted
        )
        if outcome.isCancelled { throw CancellationError() }
        if !outcome.stuck.isDisjoint(with: keys),
            let id = try outbox.load().prompts.first(where: {
                $0.state == .waiting && !keys.isDisjoint(with: $0.chatKeys)
            })?.id
        {
            throw AppError(
                outcome.failures.max() ?? .failed,
                "outbox.stuck",
                "an earlier prompt in this chat (\(id)) still waits and must be sent first",
                next: "pairtool outbox send \(id), or pairtool outbox remove \(id)"
            )
        }
        guard let made = outcome.newChats[conversation.newChatID] else { return madeChat(of: conversation) }
        return (made.id, made.title)
    }

    /// The chat that another process, or an earlier attempt, has created for a conversation.
    private func madeChat(of conversation: Conversation) -> (id: String, title: String?)? {
        guard !conversation.exists, host.family.behavior.facts.queuing != .none else { return nil }
        // A damaged outbox was reported when it was asked what waits.
        guard let id = (try? outbox.load())?.chat(madeFor: conversation.newChatID) else { return nil }
        return (id, nil)
    }
}
