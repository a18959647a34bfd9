import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import NIOCore

/// Sends events at the host to all live connections. An event is encoded once; all share its bytes.
final class LiveEventBroadcaster: Sendable {
    /// Events that may wait for one connection; one that is slower is cut off.
    static let waitingLimit = 256

    private struct State {
        var isFinished = false
        var subscribers: [Int: AsyncStream<ByteBuffer>.Continuation] = [:]
        var nextSubscriber = 0
    }

    private let clock: HostClock
    private let state = NIOLockedValueBox(State())

    init(clock: HostClock) {
        self.clock = clock
    }

    var isFinished: Bool { state.withLockedValue { $0.isFinished } }

    /// The time of day, for ``LiveEvent/at``.
    var now: Date { clock.now() }

    func publish(_ event: LiveEvent) {
        guard let frame = Self.encode(event) else { return }
        let subscribers = state.withLockedValue { $0.subscribers }
        for (id, subscriber) in subscribers {
            // The client would not notice a lost event: it has to connect again and read the present state.
            guard case .dropped = subscriber.yield(frame) else { continue }
            end(id)
        }
    }

    /// The frames from now on, until ``end(_:)``, the end of the host, or one too many is waiting.
    func subscribe() -> (id: Int, frames: AsyncStream<ByteBuffer>) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ByteBuffer.self,
            bufferingPolicy: .bufferingOldest(Self.waitingLimit)
        )
        let id = state.withLockedValue { state in
            state.nextSubscriber += 1
            state.subscribers[state.nextSubscriber] = state.isFinished ? nil : continuation
            return state.nextSubscriber
        }
        if state.withLockedValue({ $0.isFinished }) { continuation.finish() }
        return (id, stream)
    }

    func end(_ id: Int) {
        state.withLockedValue { $0.subscribers.removeValue(forKey: id) }?.finish()
    }

    func finish() {
        let subscribers = state.withLockedValue { state in
            state.isFinished = true
            defer { state.subscribers = [:] }
            return state.subscribers.values
        }
        for subscriber in subscribers { subscriber.finish() }
    }

    static func encode(_ event: LiveEvent) -> ByteBuffer? {
        (try? CompanionJSON.encoder().encode(event)).map { ByteBuffer(bytes: $0) }
    }
}

extension LiveEventBroadcaster {
    /// Publishes an event at the host to devices, as far as they may see it.
    func publish(_ event: HostEvent) {
        switch event {
        case .paired(let device, _), .connected(let device, _):
            publish(LiveEvent(.deviceConnected, at: now, deviceId: device.id, deviceName: device.name))
        case .disconnected(let device):
            publish(LiveEvent(.deviceDisconnected, at: now, deviceId: device.id, deviceName: device.name))
        case .revoked(let id): publish(LiveEvent(.deviceRevoked, at: now, deviceId: id))
        case .wrongCode(let address, let triesLeft):
            publish(LiveEvent(.pairingFailed, at: now, triesLeft: triesLeft, address: address))
        case .turnStarted(let turn):
            publish(LiveEvent(.turnStarted, at: now, chatId: turn.chatID, turnId: turn.turnID, mode: turn.mode))
        case .modeChanged(let chatID, let projectID, let mode):
            publish(LiveEvent(.chatChanged, at: now, projectId: projectID, chatId: chatID, mode: mode))
        case .turnFinished(let chatID, let turnID, let state):
            publish(LiveEvent(.turnFinished, at: now, chatId: chatID, turnId: turnID, ok: state == .finished))
        case .projectCreated(let project, _):
            publish(LiveEvent(.projectChanged, at: now, projectId: project.id))
        case .chatCreated(let chat, _):
            publish(LiveEvent(.chatChanged, at: now, projectId: chat.projectId, chatId: chat.id))
        case .questionAsked(let question): publish(live(.approvalAsked, question: question))
        case .questionEnded(let question): publish(live(.approvalDecided, question: question))
        case .questionContinued(let notice, let chatID, let turnID):
            publish(
                LiveEvent(
                    .approvalContinued,
                    at: now,
                    chatId: chatID,
                    turnId: turnID,
                    approvalId: notice.id,
                    title: notice.title,
                    state: notice.state.rawValue,
                    decidedBy: notice.decidedBy
                )
            )
        case .listening, .challenge, .challengeEnded, .pairingLocked, .pairingUnlocked, .permissionsChanged,
            .quotaReached, .agent, .alwaysRefused, .notifyFailed:
            break
        }
    }

    private func live(_ kind: LiveEvent.Kind, question: Approval) -> LiveEvent {
        LiveEvent(
            kind,
            at: now,
            chatId: question.chatId,
            turnId: question.turnId,
            approvalId: question.id,
            title: question.title,
            state: question.state.rawValue,
            decidedBy: question.decidedBy,
            mode: kind == .approvalAsked ? question.mode : nil
        )
    }
}
