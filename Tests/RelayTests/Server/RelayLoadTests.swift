import CompanionTestSupport
import CompanionWire
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import Relay

@Suite(
    "Many sessions and slow readers at a real relay",
    .enabled(if: RelayServer.isInstalled, "skipped, missing: strelaysrv"),
    .timeLimit(.minutes(15))
)
struct RelayLoadTests {
    @Test("Of 20 sessions at the same time, each has its own megabyte both ways")
    func parallel() async throws {
        try await withRelayServer { server in
            try await withHost(makeClient(server.address)) { host in
                try await host.join()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // The host serves every call, also those that a device makes once more.
                    let hostClient = host.client
                    let echoes = Task {
                        try await withThrowingDiscardingTaskGroup { group in
                            while let invitation = try? await host.invitation() {
                                group.addTask { try? await Self.echo(invitation, at: hostClient) }
                            }
                        }
                    }
                    defer { echoes.cancel() }
                    for number in 0..<20 {
                        group.addTask {
                            let device = try makeClient(server.address, clock: ContinuousClock())
                            var dice = Dice(seed: UInt64(number))
                            let bytes = dice.bytes(1 << 20)
                            var echo: [UInt8] = []
                            // The relay may have lost a session of which only the host could have learned: nothing
                            // comes then, and after a minute the end.
                            while echo.isEmpty { echo = try await Self.exchange(bytes, with: host.id, by: device) }
                            #expect(echo == bytes)
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    /// Sends bytes to a host, and returns as many that it sends back.
    private static func exchange(
        _ bytes: [UInt8],
        with host: RelayID,
        by device: RelayClient
    ) async throws -> [UInt8] {
        try await device.call(host, initializer: TestPipe.make).use { end in
            // Both ways at once, or the buffers on the way would fill up.
            let output = end.output
            async let writing: Void = output.write(ByteBuffer(bytes: bytes))
            let echo = try await end.read(bytes.count)
            try? await writing
            return echo
        }
    }

    /// Sends back what a device sends, until it closes.
    private static func echo(_ invitation: RelayInvitation, at host: RelayClient) async throws {
        try await host.answer(invitation, initializer: TestPipe.make).use { end in
            while true {
                let bytes = try await end.readSome()
                guard !bytes.isEmpty else { return }
                try await end.write(bytes)
            }
        }
    }

    @Test("A reader that stops reading stops the writer, whose memory does not grow, and nothing is lost")
    func backpressure() async throws {
        try await withRelayServer { server in
            try await withHost(makeClient(server.address)) { host in
                try await host.join()
                let pump = Pump(limit: 512 << 20)
                let counter = Counter()
                let ends = try await host.open(
                    to: makeClient(server.address),
                    hostEnd: { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(counter)
                            return channel
                        }
                    },
                    deviceEnd: { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(pump)
                            return channel
                        }
                    }
                )
                let (reader, writer) = (ends.host, ends.device)
                // All buffers on the way are full when nothing has moved for a while.
                var (last, unchanged) = (-1, 0)
                try await eventually {
                    let written = pump.written
                    unchanged = written == last ? unchanged + 1 : 0
                    last = written
                    return unchanged == 20
                }
                #expect(!writer.isWritable && pump.written < 256 << 20)
                let waiting = try await writer.getOption(.bufferedWritableBytes).get()
                #expect(waiting <= 256 << 10)
                #expect(try #require(server.residentBytes) < 64 << 20)
                // The reader goes on.
                pump.stop()
                let total = pump.written
                try await reader.setOption(.autoRead, value: true).get()
                for await count in counter.counts where count >= total {
                    #expect(count == total)
                    break
                }
                try? await writer.close()
                try? await reader.close()
            }
        }
    }
}

/// Writes for as long as its channel is writable.
private final class Pump: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private struct State {
        var written = 0
        var limit: Int
    }

    private let state: NIOLockedValueBox<State>
    private let piece = ByteBuffer(repeating: 1, count: 64 << 10)

    init(limit: Int) { state = NIOLockedValueBox(State(limit: limit)) }

    var written: Int { state.withLockedValue { $0.written } }

    func stop() { state.withLockedValue { $0.limit = 0 } }

    func handlerAdded(context: ChannelHandlerContext) { pump(context: context) }

    func channelWritabilityChanged(context: ChannelHandlerContext) { pump(context: context) }

    private func pump(context: ChannelHandlerContext) {
        while context.channel.isWritable {
            let isOver = state.withLockedValue { state in
                guard state.written < state.limit else { return true }
                state.written += piece.readableBytes
                return false
            }
            if isOver { return }
            context.writeAndFlush(wrapOutboundOut(piece), promise: nil)
        }
    }
}

private final class Counter: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let counted = NIOLockedValueBox(0)
    /// The bytes that have come; the latest count only.
    let counts: AsyncStream<Int>
    private let change: AsyncStream<Int>.Continuation

    init() { (counts, change) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = unwrapInboundIn(data).readableBytes
        change.yield(
            counted.withLockedValue { counted in
                counted += count
                return counted
            }
        )
    }
}
