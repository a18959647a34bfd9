package import CompanionWire
package import FoundationEssentials
package import Logging
package import NIOCore

/// A user of one relay, with one identity: a host that joins and is called, or a device that calls.
///
/// A relay is not trusted: whatever goes through its pipes is protected by the TLS between device and host. The address
/// that was dialled is the only one that is ever connected to.
package struct RelayClient: Sendable {
    /// The relay's address, with the id that it must have.
    package let address: RelayAddress
    /// The identity that is shown to the relay.
    package let identity: RelayIdentity
    let logger: Logger
    /// The most time for one connection to the relay to reach its purpose. A call makes two connections. Default: 10 s.
    package var timeout: Duration
    /// How long the relay may send nothing, beside two round trips, before a second connection tries the same. Default: 2 s.
    package var patience: Duration = .seconds(2)
    /// Measures the waits between tries to join, and the pause of ``settling``.
    package var clock: any Clock<Duration>
    /// Draws the share of a wait that is waited: from 0 up to 1.
    package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    /// The time of day at which a relay was joined.
    package var now: @Sendable () -> Date = { Date() }
    /// The silence after which a joined relay is pinged; after twice the time it is lost. Default: 1 minute, which is
    /// also how often relays ping.
    package var silence: Duration = .seconds(60)
    /// How long a device lets the host go first to a session that both were invited to. Default: 20 ms.
    ///
    /// Strelaysrv 1.19.2 loses a session whose sides come within some 0.1 ms of each other: of 500 on loopback it lost
    /// 34. The side that it refuses is the second, and only the device can call once more.
    package var settling: Duration = .milliseconds(20)

    /// - Parameters:
    ///   - logger: Learns of connections and losses, at level debug.
    ///   - timeout: Default: 10 s.
    ///   - clock: Default: the continuous one.
    package init(
        address: RelayAddress,
        identity: RelayIdentity,
        logger: Logger,
        timeout: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.address = address
        self.identity = identity
        self.logger = logger
        self.timeout = timeout
        self.clock = clock
    }

    /// Opens a pipe to a host that has joined this relay.
    ///
    /// The channel is plain TCP that reads nothing by itself: handlers for TLS are added by the initializer, which also
    /// decides when `autoRead` is set. What the host has sent already reaches those handlers first.
    ///
    /// The pipe may stand before the host has come to its end. Where the host never comes, nothing comes out of the
    /// pipe, and the relay closes it after a minute: whoever waits for an answer needs a time limit. Strelaysrv 1.19.2
    /// does not pass on that one end was closed: the other one learns of it when it writes, or after two minutes of
    /// silence. The goodbye of TLS goes through.
    ///
    /// - Parameters:
    ///   - host: The id with which the host has joined.
    ///   - initializer: Adds handlers to the pipe; is called on its event loop, once, when the pipe is open.
    /// - Returns: What the initializer returns.
    /// - Throws: `RelayError`: ``RelayError/Code/notFound`` where the host has not joined; what the initializer throws;
    ///   `CancellationError`. The channel is closed then.
    package func call<Output: Sendable>(
        _ host: RelayID,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) async throws -> Output {
        var triesLeft = 3
        while true {
            triesLeft -= 1
            do {
                let invitation = try await requestInvitation(to: host)
                try await clock.sleep(for: settling)
                return try await openPipe(invitation, initializer: initializer)
            } catch let error as RelayError where error.code == .sessionLost && triesLeft > 0 {
                logger.debug("\(error.message) Calling once more.")
            }
        }
    }

    /// Opens the pipe to a device that has called. The caller has checked who that is.
    ///
    /// - Parameters:
    ///   - invitation: One that ``join(onState:onInvitation:)`` has reported. It is good for a minute.
    ///   - initializer: As in ``call(_:initializer:)``. All that is said of pipes there holds here too.
    /// - Throws: As ``call(_:initializer:)``; ``RelayError/Code/sessionLost`` where the device has to call again.
    package func answer<Output: Sendable>(
        _ invitation: RelayInvitation,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) async throws -> Output {
        try await openPipe(invitation, initializer: initializer)
    }

    func requestInvitation(to host: RelayID) async throws -> RelayInvitation {
        let connection = RelayControl(client: self)
        return try await connection.dialer.connect { channel, reached in
            try connection.converse(RelayCall(to: host, relay: address.authority), on: channel) { action in
                switch action {
                case .invited(let invitation):
                    reached.succeed(invitation)
                    // The relay does so too, but only once the host has taken its own invitation.
                    channel.close(promise: nil)
                case .fail(let error): reached.fail(error)
                case .send, .joined, .ponged: break
                }
            } onWrongID: {
                reached.fail($0)
            }
        }
    }

    func openPipe<Output: Sendable>(
        _ invitation: RelayInvitation,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) async throws -> Output {
        let relay = address.authority
        let pipe = try await RelayDialer(client: self).connect { channel, opened in
            let handler = RelayOpeningHandler(
                key: invitation.key,
                relay: relay,
                opened: opened,
                initializer: initializer
            )
            try channel.pipeline.syncOperations.addHandler(handler)
        }
        return try await withTaskCancellationHandler {
            try await pipe.output.get()
        } onCancel: {
            pipe.channel.close(promise: nil)
        }
    }
}

/// How far a host has come with a relay.
package enum RelayJoinState: Sendable {
    case connecting
    /// Devices can call.
    ///
    /// - Parameter since: The time of day at which the relay was joined.
    case joined(since: Date)
    /// The relay was not reached, or is lost.
    ///
    /// - Parameter nextTryIn: The wait before the next try, up to 30 s.
    case failed(RelayError, nextTryIn: Duration)
}

extension RelayClient {
    /// Joins the relay and stays joined, until the task is cancelled: after a loss it comes back.
    ///
    /// The waits between tries are drawn from 0 up to 1 s, 2 s, 4 s and so on to 30 s. Where the relay says after a loss
    /// that this host is connected already, it has not noticed the loss yet: for two minutes that is no failure, and
    /// the state stays ``RelayJoinState/connecting``.
    ///
    /// Strelaysrv ends the open pipes of a host whose joined connection ends.
    ///
    /// - Parameters:
    ///   - onState: Gets every new state. Is called on an event loop, or by this task: it must not block.
    ///   - onInvitation: Gets every invitation, on an event loop: it must not block.
    package func join(
        onState: @escaping @Sendable (RelayJoinState) -> Void,
        onInvitation: @escaping @Sendable (RelayInvitation) -> Void
    ) async {
        var retries = RelayRetries()
        let elapsed = Self.stopwatch(clock)
        onState(.connecting)
        while !Task.isCancelled {
            do {
                let membership = try await joinOnce(
                    onJoined: { onState(.joined(since: now())) },
                    onInvitation: onInvitation
                )
                retries.noteJoin(at: elapsed())
                logger.debug("Joined the relay \(address.authority).")
                try await membership.waitForEnd()
            } catch let error as RelayError where !Task.isCancelled {
                let retry = retries.noteFailure(error.code, at: elapsed(), random: random())
                logger.debug("\(error.message) Next try in \(retry.wait.seconds).")
                if retry.isReported { onState(.failed(error, nextTryIn: retry.wait)) }
                guard (try? await clock.sleep(for: retry.wait)) != nil else { return }
                if retry.isReported { onState(.connecting) }
            } catch {
                return
            }
        }
    }

    /// Joins the relay.
    ///
    /// - Parameters:
    ///   - onJoined: Is called on the event loop, before the first invitation.
    ///   - onInvitation: Is called on the event loop.
    /// - Throws: `RelayError`; `CancellationError`.
    func joinOnce(
        onJoined: @escaping @Sendable () -> Void = {},
        onInvitation: @escaping @Sendable (RelayInvitation) -> Void
    ) async throws -> RelayMembership {
        let connection = RelayControl(client: self)
        return try await connection.dialer.connect { channel, reached in
            let membership = RelayMembership(channel: channel, control: connection)
            do {
                try connection.converse(RelayJoin(relay: address.authority), on: channel) { action in
                    switch action {
                    case .joined:
                        onJoined()
                        reached.succeed(membership)
                    case .invited(let invitation): onInvitation(invitation)
                    case .ponged: membership.completePing()
                    case .fail(let error):
                        reached.fail(error)
                        membership.end(with: error)
                    case .send: break
                    }
                } onWrongID: {
                    reached.fail($0)
                }
            } catch {
                membership.end(with: .transport(error, relay: address.authority))
                throw error
            }
        }
    }

    /// Returns a function that tells how long ago it was made.
    private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
