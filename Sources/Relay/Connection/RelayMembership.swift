import CompanionWire
import NIOConcurrencyHelpers
import NIOCore

/// The connection of somebody who has joined a relay.
struct RelayMembership: Sendable {
    private let channel: any Channel
    private let control: RelayControl
    private let ended: EventLoopPromise<Void>
    private let pings = NIOLockedValueBox<[EventLoopPromise<NIODeadline>]>([])

    /// Whoever makes one has to call ``end(with:)``.
    init(channel: any Channel, control: RelayControl) {
        (self.channel, self.control) = (channel, control)
        ended = channel.eventLoop.makePromise()
    }

    /// The id of the certificate that the relay has shown.
    var shownID: RelayID? { control.shownID }

    /// Waits until the relay is lost.
    ///
    /// - Throws: `RelayError`: why it is lost; `CancellationError`, after the connection was closed.
    func waitForEnd() async throws {
        try await withTaskCancellationHandler {
            do {
                try await ended.futureResult.get()
            } catch {
                try Task.checkCancellation()
                throw error
            }
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    /// Leaves the relay, and waits until the connection is closed.
    func leave() async {
        try? await channel.close()
    }

    /// Sends a ping, and returns how long the answer took.
    ///
    /// - Throws: `RelayError` where the relay is lost before; `CancellationError`.
    func ping() async throws -> Duration {
        let answered = channel.eventLoop.makePromise(of: NIODeadline.self)
        let start = NIODeadline.now()
        pings.withLockedValue { $0.append(answered) }
        channel.writeAndFlush(ByteBuffer(bytes: RelayMessage.ping.bytes)).whenFailure { answered.fail($0) }
        return try await withTaskCancellationHandler {
            Duration(try await answered.futureResult.get() - start)
        } onCancel: {
            answered.fail(CancellationError())
        }
    }

    /// Completes the oldest ping: the relay has answered.
    func completePing() {
        pings.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }?.succeed(.now())
    }

    func end(with error: RelayError) {
        ended.fail(error)
        let open = pings.withLockedValue { pings in
            defer { pings = [] }
            return pings
        }
        for ping in open { ping.fail(error) }
    }
}
