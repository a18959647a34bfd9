import CompanionWire
import FoundationEssentials
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// Lets connections in and ends them by ``ConnectionPolicy``, and bounds what the log says of strangers.
final class ConnectionGate: Sendable {
    /// Why a connection is ended.
    enum Ending: Sendable, Hashable {
        /// Another one needs its place.
        case gaveWay
        /// It took too long with something.
        case tooSlow
    }

    private struct Held: Sendable {
        var peer: IPAddress
        var end: @Sendable (Ending) -> Void
    }

    private struct State: Sendable {
        var policy: ConnectionPolicy
        var held: [ConnectionPolicy.ID: Held] = [:]
        var logLimiter = PeerLogLimiter()
    }

    /// Seconds between two looks for overdue connections.
    private static let interval: TimeInterval = 1

    private let clock: HostClock
    private let logger: Logger
    private let state: NIOLockedValueBox<State>
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// - Parameter clock: A clock that runs evenly: the deadlines of connections are nothing of the time of day.
    init(limits: ConnectionLimits, clock: HostClock, logger: Logger) {
        self.clock = clock
        self.logger = logger
        state = NIOLockedValueBox(State(policy: ConnectionPolicy(limits: limits)))
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    static func id(of channel: any Channel) -> ConnectionPolicy.ID {
        // A channel exists for as long as the policy knows it: until it has closed.
        UInt(bitPattern: ObjectIdentifier(channel))
    }

    /// A connection arrives.
    ///
    /// - Parameter end: Ends it; called from any thread.
    /// - Returns: Whether it is let in.
    func open(_ channel: any Channel, isSecure: Bool, end: @escaping @Sendable (Ending) -> Void) -> Bool {
        guard let peer = IPAddress(peerOf: channel) else { return false }
        let id = Self.id(of: channel)
        let now = clock.now()
        let (isOpen, instead) = state.withLockedValue { state in
            let (isOpen, instead) = state.policy.open(id, from: peer, isSecure: isSecure, now: now)
            if isOpen { state.held[id] = Held(peer: peer, end: end) }
            return (isOpen, instead.flatMap { state.held.removeValue(forKey: $0) })
        }
        wake.yield()
        if let instead { self.end(instead, ending: .gaveWay, reason: "too many connections") }
        guard isOpen else {
            note("too many connections", of: peer)
            return false
        }
        channel.closeFuture.whenComplete { [state] _ in
            state.withLockedValue { state in
                state.policy.close(id)
                state.held[id] = nil
            }
        }
        return true
    }

    func enter(_ phase: ConnectionPolicy.Phase, id: ConnectionPolicy.ID) {
        let now = clock.now()
        let instead = state.withLockedValue { state in
            state.policy.enter(phase, id: id, now: now).flatMap { state.held.removeValue(forKey: $0) }
        }
        if let instead { end(instead, ending: .gaveWay, reason: "too many slow requests") }
    }

    /// Notes whether the last request of a connection has proven to come from a paired device.
    func trust(_ channel: any Channel, isTrusted: Bool) {
        let id = Self.id(of: channel)
        state.withLockedValue { $0.policy.trust(id, isTrusted: isTrusted) }
    }

    /// Logs something that a stranger has done, in one line for each peer and minute.
    func note(_ reason: String, of peer: IPAddress) {
        let now = clock.now()
        guard let line = state.withLockedValue({ $0.logLimiter.note(peer.description, now: now) }) else { return }
        log(reason, line: line)
    }

    /// Ends overdue connections, until the task is cancelled.
    func run() async {
        for await _ in wakes {
            while !state.withLockedValue({ $0.held.isEmpty && $0.logLimiter.isEmpty }) {
                let next = clock.now().addingTimeInterval(Self.interval)
                guard (try? await clock.sleepUntil(next)) != nil else { return }
                endOverdue()
            }
        }
    }

    private func endOverdue() {
        let now = clock.now()
        let overdue = state.withLockedValue { state in
            state.policy.takeOverdue(now: now).compactMap { item in
                state.held.removeValue(forKey: item.id).map { (held: $0, phase: item.phase) }
            }
        }
        for (held, phase) in overdue { end(held, ending: .tooSlow, reason: "too slow (\(phase))") }
        // Behind what was just said: that counts what was left out, too.
        for line in state.withLockedValue({ $0.logLimiter.takeOver(now: now) }) { log("more of the same", line: line) }
    }

    private func end(_ held: Held, ending: Ending, reason: String) {
        held.end(ending)
        note(reason, of: held.peer)
    }

    private func log(_ reason: String, line: PeerLogLimiter.Suppressed) {
        logger.notice(
            "connection",
            metadata: .event(
                "host",
                outcome: "refused",
                ["peer": "\(line.peer)", "reason": "\(reason)", "left out": "\(line.count)"]
            )
        )
    }
}
