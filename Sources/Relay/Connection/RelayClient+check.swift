import CompanionWire
import NIOCore

extension RelayClient {
    /// Pings of which the fastest counts.
    private static let pings = 5

    /// Tries the relay: a temporary identity joins, another one calls it, and bytes go through the pipe.
    ///
    /// A relay with another id than the address names is tried too: ``RelayCheck/isExpected`` is false then. Nothing
    /// but bytes without meaning is sent.
    ///
    /// - Parameter duration: How long bytes are sent. Default: 2 s. A relay with a limit lets twice what it allows for a
    ///   second through at once in the beginning.
    /// - Throws: `RelayError`; `CancellationError`.
    package func check(for duration: Duration = .seconds(2)) async throws -> RelayCheck {
        let host = try temporary()
        let device = try temporary()
        let (invitations, invite) = AsyncStream.makeStream(
            of: RelayInvitation.self,
            bufferingPolicy: .bufferingOldest(1)
        )
        let membership = try await host.joinOnce { invitation in
            if invitation.from == device.identity.id { invite.yield(invitation) }
        }
        do {
            guard let shown = membership.shownID else { throw RelayError.closed(address.authority) }
            let latency = try await withTimeLimit(timeout) {
                var fastest = try await membership.ping()
                for _ in 1..<Self.pings { fastest = min(fastest, try await membership.ping()) }
                return fastest
            }
            guard let latency else { throw RelayError.timedOut(address.authority, after: timeout) }
            let run = try await host.runPipe(calledBy: device, invitations: invitations, duration: duration)
            await membership.leave()
            return RelayCheck(
                shownID: shown,
                expectedID: address.id,
                latency: latency,
                openingTime: run.openingTime,
                bytesPerSecond: run.bytesPerSecond
            )
        } catch {
            await membership.leave()
            try Task.checkCancellation()
            throw RelayError.transport(error, relay: address.authority)
        }
    }

    /// The same relay, whichever id it shows, with an identity that nobody knows.
    private func temporary() throws(RelayError) -> RelayClient {
        RelayClient(
            address: address.replacingID(with: nil),
            identity: try .make(),
            logger: logger,
            timeout: timeout,
            clock: clock
        )
    }

    private struct PipeRun {
        var openingTime: Duration
        var bytesPerSecond: Double
    }

    /// The end of a pipe that only counts.
    private struct Sink: Sendable {
        let channel: any Channel
        let bytesPerSecond: EventLoopFuture<Double>
    }

    /// Sends bytes from a device to this host, which has joined.
    private func runPipe(
        calledBy device: RelayClient,
        invitations: AsyncStream<RelayInvitation>,
        duration: Duration
    ) async throws -> PipeRun {
        let start = NIODeadline.now()
        let calling = try await device.requestInvitation(to: identity.id)
        // Membership and stream have no end of their own that would be noticed here.
        let called = try await withTimeLimit(timeout) { await invitations.first { _ in true } }
        guard let called = called ?? nil else { throw RelayError.timedOut(address.authority, after: timeout) }
        // One after the other: see ``settling``.
        let sink = try await answer(called) { channel in
            channel.eventLoop.makeCompletedFuture {
                let rate = channel.eventLoop.makePromise(of: Double.self)
                do {
                    let counter = RelayByteCounter(for: duration, bytesPerSecond: rate)
                    try channel.pipeline.syncOperations.addHandler(counter)
                    try channel.syncOptions?.setOption(.autoRead, value: true)
                } catch {
                    rate.fail(error)
                    throw error
                }
                return Sink(channel: channel, bytesPerSecond: rate.futureResult)
            }
        }
        defer { sink.channel.close(promise: nil) }
        let source = try await device.openPipe(calling) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(RelayByteSource())
                return channel
            }
        }
        defer { source.close(promise: nil) }
        let openingTime = Duration(NIODeadline.now() - start)
        let rate = try await withTimeLimit(duration + timeout) {
            try await withTaskCancellationHandler {
                try await sink.bytesPerSecond.get()
            } onCancel: {
                // The counter fails with its channel.
                sink.channel.close(promise: nil)
            }
        }
        guard let rate else { throw RelayError.timedOut(address.authority, after: timeout) }
        return PipeRun(openingTime: openingTime, bytesPerSecond: rate)
    }
}
