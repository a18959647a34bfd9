import CompanionWire
package import FoundationEssentials
import Logging
import NIOCore

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
