import CompanionTestSupport
import CompanionWire
import Logging
import NIOCore
import Testing

@testable import Relay

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// A host that stays joined to a relay.
struct JoinedHost: Sendable {
    let client: RelayClient
    private let states: AsyncStream<RelayJoinState>
    private let invitations: AsyncStream<RelayInvitation>

    fileprivate init(
        client: RelayClient,
        states: AsyncStream<RelayJoinState>,
        invitations: AsyncStream<RelayInvitation>
    ) {
        (self.client, self.states, self.invitations) = (client, states, invitations)
    }

    var id: RelayID { client.identity.id }

    /// The first state that a closure makes something of. States before it are lost.
    func state<Value: Sendable>(_ pick: (RelayJoinState) -> Value?) async throws -> Value {
        for await state in states {
            if let value = pick(state) { return value }
        }
        throw CancellationError()
    }

    /// Waits until the relay is joined.
    func join() async throws {
        _ = try await state { if case .joined = $0 { true } else { nil } }
    }

    /// Waits until a try fails.
    func failure() async throws -> RelayError {
        try await state { if case .failed(let error, _) = $0 { error } else { nil } }
    }

    /// The next invitation.
    func invitation() async throws -> RelayInvitation {
        for await invitation in invitations { return invitation }
        throw CancellationError()
    }

    /// Opens a pipe from a device, the host's end first. Both ends at once would be like ``RelayClient/call(_:initializer:)``,
    /// but the relay may lose such a session.
    func open<HostEnd: Sendable, DeviceEnd: Sendable>(
        to device: RelayClient,
        hostEnd: @escaping @Sendable (any Channel) -> EventLoopFuture<HostEnd>,
        deviceEnd: @escaping @Sendable (any Channel) -> EventLoopFuture<DeviceEnd>
    ) async throws -> PipeEnds<HostEnd, DeviceEnd> {
        let calling = try await device.requestInvitation(to: id)
        let host = try await client.answer(invitation(), initializer: hostEnd)
        return PipeEnds(host: host, device: try await device.openPipe(calling, initializer: deviceEnd))
    }

    /// Opens a pipe from a device whose ends both read.
    func open(to device: RelayClient) async throws -> PipeEnds<TestPipe, TestPipe> {
        try await open(to: device, hostEnd: TestPipe.make, deviceEnd: TestPipe.make)
    }
}

/// The ends of an open pipe.
struct PipeEnds<Host: Sendable, Device: Sendable>: Sendable {
    let host: Host
    let device: Device
}

/// Runs a body while a host is joined, or tries to be.
func withHost<Result>(
    _ client: RelayClient,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (JoinedHost) async throws -> Result
) async throws -> Result {
    let (states, state) = AsyncStream.makeStream(of: RelayJoinState.self)
    let (invitations, invitation) = AsyncStream.makeStream(of: RelayInvitation.self)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            await client.join(onState: { state.yield($0) }, onInvitation: { invitation.yield($0) })
            state.finish()
            invitation.finish()
        }
        defer { group.cancelAll() }
        return try await body(JoinedHost(client: client, states: states, invitations: invitations))
    }
}

/// A user of a relay, with an identity of its own.
///
/// - Parameter clock: Default: one on which the waits between tries are over at once.
func makeClient(
    _ address: RelayAddress,
    identity: RelayIdentity? = nil,
    clock: any Clock<Duration> = ImmediateClock()
) throws -> RelayClient {
    var client = RelayClient(
        address: address,
        identity: try identity ?? .make(),
        logger: .silent,
        // A busy machine needs more than a person would wait.
        timeout: .seconds(60),
        clock: clock
    )
    client.random = { 0.5 }
    return client
}

/// A clock whose waits are over when a closure has run.
struct HookClock: Clock {
    let hook: @Sendable () async throws -> Void

    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await hook()
    }
}

/// One end of an open pipe.
struct TestPipe: Sendable {
    typealias Stream = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private let stream: Stream

    /// Makes an end that reads, as an initializer of a pipe.
    static let make: @Sendable (any Channel) -> EventLoopFuture<TestPipe> = { make($0) { nil } }

    /// Makes an end that reads what a handler for TLS lets through.
    static func make(
        _ channel: any Channel,
        tls makeTLS: () throws -> (any ChannelHandler)?
    ) -> EventLoopFuture<TestPipe> {
        channel.eventLoop.makeCompletedFuture {
            if let tls = try makeTLS() { try channel.pipeline.syncOperations.addHandler(tls) }
            let stream = try Stream(wrappingChannelSynchronously: channel)
            try channel.syncOptions?.setOption(.autoRead, value: true)
            return TestPipe(stream: stream)
        }
    }

    /// Runs a body with the end, and closes the pipe behind it.
    func use<Result>(_ body: (inout End) async throws -> Result) async throws -> Result {
        try await stream.executeThenClose { inbound, outbound in
            var end = End(input: inbound.makeAsyncIterator(), output: outbound)
            return try await body(&end)
        }
    }

    struct End {
        fileprivate var input: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        let output: NIOAsyncChannelOutboundWriter<ByteBuffer>
        private var held = ByteBuffer()

        fileprivate init(
            input: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
            output: NIOAsyncChannelOutboundWriter<ByteBuffer>
        ) {
            (self.input, self.output) = (input, output)
        }

        func write(_ bytes: [UInt8]) async throws {
            try await output.write(ByteBuffer(bytes: bytes))
        }

        /// Reads what is there next; nothing at the end.
        mutating func readSome() async throws -> [UInt8] {
            if held.readableBytes == 0, let next = try await input.next() { held = next }
            return held.readBytes(length: held.readableBytes) ?? []
        }

        /// Reads exactly so many bytes; fewer where the pipe ends before.
        mutating func read(_ count: Int) async throws -> [UInt8] {
            while held.readableBytes < count, var next = try await input.next() { held.writeBuffer(&next) }
            return held.readBytes(length: min(count, held.readableBytes)) ?? []
        }
    }
}
