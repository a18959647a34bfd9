import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Providers
import ServiceLifecycle

/// Tells ntfy topics and webhooks when an agent begins to wait, when the wait is over, and when a long turn ends. Never
/// keeps an agent waiting: events are taken at once, and sent from a queue for each target.
final class HostNotifier: Sendable {
    /// Messages that may wait for one target; the oldest go first.
    private static let queueLimit = 100
    /// The longest time for which a server may put the host off.
    private static let longestWait = Duration.seconds(60)

    private struct State {
        /// The ids of open questions.
        var open: Set<ByteText> = []
        var starts: [ByteText: ContinuousClock.Instant] = [:]
        /// Why the last message was not sent, by the target's index.
        var failures: [Int: String] = [:]
        /// How many questions targets know of, or are being told of, and not yet that they are over.
        var owed = 0
    }

    /// A message that may be sent.
    private enum Candidate: Sendable {
        /// A question, for which somebody may have an answer at once.
        case question(Approval)
        case message(NotifyMessage)
    }

    private let settings: NotifySettings
    private let host: String
    private let clock: HostClock
    private let revocations: RevocationCenter
    private let events: HostEventSink
    private let state = NIOLockedValueBox(State())
    private let candidates: AsyncStream<Candidate>
    private let continuation: AsyncStream<Candidate>.Continuation

    /// - Parameters:
    ///   - host: The host's name.
    ///   - revocations: Knows whether a device follows what happens.
    ///   - events: Gets the failures of targets.
    init(
        _ settings: NotifySettings,
        host: String,
        clock: HostClock,
        revocations: RevocationCenter,
        events: HostEventSink
    ) {
        (self.settings, self.host, self.clock) = (settings, host, clock)
        (self.revocations, self.events) = (revocations, events)
        (candidates, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1000))
    }

    /// Takes an event at the host.
    func take(_ event: HostEvent) {
        guard !settings.targets.isEmpty else { return }
        switch event {
        case .questionAsked(let question):
            _ = state.withLockedValue { $0.open.insert(ByteText(question.id)) }
            continuation.yield(.question(question))
        case .questionEnded(let question):
            _ = state.withLockedValue { $0.open.remove(ByteText(question.id)) }
            continuation.yield(.message(.answered(question, at: host, now: clock.now())))
        case .turnStarted(let turn):
            state.withLockedValue { $0.starts[ByteText(turn.turnID)] = .now }
        case .turnFinished(_, let turnID, let turnState):
            let start = state.withLockedValue { $0.starts.removeValue(forKey: ByteText(turnID)) }
            guard let start, .now - start >= settings.longTurn else { return }
            continuation.yield(.message(.finished(turnState, at: host, now: clock.now())))
        default: break
        }
    }

    /// Sends messages until the host is shut down. Whoever was told of a question is told that it is over, if that takes no
    /// longer than a second; other messages are dropped.
    func run() async {
        guard !settings.targets.isEmpty else {
            _ = try? await gracefulShutdown()
            return
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.work() }
            group.addTask {
                _ = try? await gracefulShutdown()
                let end = ContinuousClock.now + self.settings.shutdown
                while self.state.withLockedValue({ $0.owed > 0 }), .now < end, !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func work() async {
        await JSONPost.withClient(limit: settings.limit) { client in
            await withDiscardingTaskGroup { group in
                let queues = settings.targets.indices.map { index in
                    let (messages, queue) = AsyncStream.makeStream(
                        of: NotifyMessage.self,
                        bufferingPolicy: .bufferingNewest(Self.queueLimit)
                    )
                    group.addTask { await self.send(messages, to: index, with: client) }
                    return queue
                }
                for await candidate in candidates {
                    switch candidate {
                    case .message(let message): enqueue(message, in: queues)
                    case .question(let question):
                        guard revocations.hasStreams else {
                            enqueue(message(about: question), in: queues)
                            continue
                        }
                        // Somebody who sits at a connected device answers without being told.
                        group.addTask {
                            guard (try? await Task.sleep(for: self.settings.patience)) != nil else { return }
                            self.enqueue(self.message(about: question), in: queues)
                        }
                    }
                }
                for queue in queues { queue.finish() }
            }
        }
    }

    /// Sends one message to each target now, once.
    ///
    /// - Returns: The outcomes, in the order of the targets.
    func test() async throws -> [AdminNotification] {
        let message = NotifyMessage.test(at: host, now: clock.now())
        return try await JSONPost.withClient(limit: settings.limit) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in settings.targets.indices {
                    group.addTask { _ = try await self.attempt(message, to: index, with: client) }
                }
                try await group.waitForAll()
            }
            return targets
        }
    }

    /// The targets, and why the last message to each was not sent.
    var targets: [AdminNotification] {
        let failures = state.withLockedValue { $0.failures }
        return settings.targets.indices.map { AdminNotification(target: name(of: $0), failure: failures[$0]) }
    }

    /// A target's name, with its place where several have the same.
    private func name(of index: Int) -> String {
        let name = settings.targets[index].name
        return settings.targets.count { $0.name.isSame(as: name) } > 1 ? "\(name) (address \(index + 1))" : name
    }

    private func message(about question: Approval) -> NotifyMessage {
        .asked(question, detail: settings.detail, at: host, now: clock.now())
    }

    private func enqueue(_ message: NotifyMessage, in queues: [AsyncStream<NotifyMessage>.Continuation]) {
        for (index, queue) in queues.enumerated() {
            guard case .dropped = queue.yield(message) else { continue }
            record(failure: "too many messages wait for it, and the oldest was dropped", of: index)
        }
    }

    // MARK: One target

    private func send(_ messages: AsyncStream<NotifyMessage>, to index: Int, with client: JSONPost) async {
        // The questions that this target knows of.
        var announced: Set<ByteText> = []
        for await message in messages {
            let question = message.questionId.map { ByteText($0) }
            // The end of a wait is news only where its beginning was.
            if message.kind == .answered, question.flatMap({ announced.remove($0) }) == nil { continue }
            if message.kind == .asked { state.withLockedValue { $0.owed += 1 } }
            guard let mayHaveArrived = try? await send(message, to: index, with: client) else { return }
            switch (message.kind, question) {
            case (.asked, let question?) where mayHaveArrived: announced.insert(question)
            case (.asked, _), (.answered, _): state.withLockedValue { $0.owed -= 1 }
            case (.finished, _), (.test, _): break
            }
        }
    }

    /// Sends a message until the server takes it, it is out of date, or it has been tried often enough.
    ///
    /// - Returns: Whether it may have arrived.
    /// - Throws: `CancellationError`.
    private func send(_ message: NotifyMessage, to index: Int, with client: JSONPost) async throws -> Bool {
        var pauses = settings.pauses[...]
        while isWanted(message) {
            switch try await attempt(message, to: index, with: client) {
            case .sent, .unclear: return true
            case .refused: return false
            case .busy(_, let wait):
                guard let pause = pauses.popFirst() else { return false }
                try await Task.sleep(for: max(pause, min(wait, Self.longestWait)))
            }
        }
        return false
    }

    /// Whether a message is not out of date: a question has to be open.
    private func isWanted(_ message: NotifyMessage) -> Bool {
        guard message.kind == .asked, let id = message.questionId else { return true }
        return state.withLockedValue { $0.open.contains(ByteText(id)) }
    }

    private func attempt(
        _ message: NotifyMessage,
        to index: Int,
        with client: JSONPost
    ) async throws -> NotifyOutcome {
        let target = settings.targets[index]
        let token = target.isConfidential ? settings.token : nil
        let body = try message.body(for: target.service)
        let outcome = NotifyOutcome(try await client.post(body, to: target.url, token: token))
        record(failure: outcome.reason, of: index)
        return outcome
    }

    /// Keeps why a message was not sent, and tells the owner where a target begins to fail.
    private func record(failure: String?, of index: Int) {
        let before = state.withLockedValue { state in
            defer { state.failures[index] = failure }
            return state.failures[index]
        }
        guard let failure, before == nil else { return }
        events.send(.notifyFailed(target: name(of: index), reason: failure))
    }
}

/// How an attempt to send a notification ended.
private enum NotifyOutcome {
    case sent
    /// The server did not take it now. It may be sent again, at the earliest after the time.
    case busy(String, after: Duration)
    /// The server would refuse it again.
    case refused(String)
    /// Nobody knows whether it has arrived, so it is not sent again.
    case unclear(String)

    init(_ outcome: JSONPost.Outcome) {
        switch outcome {
        case .answered(200..<300, _): self = .sent
        case .answered(300..<400, _): self = .refused("it redirects to another address: use that address")
        case .answered(let status, _) where [401, 403].contains(status):
            self = .refused("it refuses the token, or wants one (\(status))")
        case .answered(let status, let seconds) where [429, 502, 503].contains(status):
            self = .busy("it is busy (\(status))", after: .seconds(max(0, seconds ?? 0)))
        case .answered(let status, _): self = .refused("it answered with \(status)")
        case .unreached: self = .busy("no connection to it", after: .zero)
        case .badCertificate: self = .refused("its certificate could not be verified; nothing was sent")
        case .noTLS: self = .busy("no TLS connection to it", after: .zero)
        case .unanswered: self = .unclear("it did not answer in time; the message may have arrived")
        case .broken: self = .unclear("it closed the connection or does not speak HTTP; the message may have arrived")
        }
    }

    /// Why it was not sent; nil if it was.
    var reason: String? {
        switch self {
        case .sent: nil
        case .busy(let reason, _), .refused(let reason), .unclear(let reason): reason
        }
    }
}
