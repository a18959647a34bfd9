import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import Relay

@Suite("The opening of a pipe on a connection")
struct RelayOpeningHandlerTests {
    private static let success = RelayMessage.response(RelayResponse(code: 0, text: Array("success".utf8))).bytes

    /// A connection on which a key was sent already.
    private struct Opening {
        let channel: EmbeddedChannel
        let opened: EventLoopFuture<RelayPipe<Int>>

        init(_ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Int>) throws {
            channel = EmbeddedChannel()
            try channel.setOption(.autoRead, value: false).wait()
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            let promise = channel.eventLoop.makePromise(of: RelayPipe<Int>.self)
            opened = promise.futureResult
            try channel.pipeline.syncOperations.addHandler(
                RelayOpeningHandler(key: [1, 2], relay: "r:1", opened: promise, initializer: initializer)
            )
            let sent = try channel.readOutbound(as: ByteBuffer.self)
            #expect(sent == ByteBuffer(bytes: RelayMessage.joinSessionRequest(key: [1, 2]).bytes))
        }

        func receive(_ bytes: [UInt8]) throws {
            try channel.writeInbound(ByteBuffer(bytes: bytes))
        }
    }

    @Test("The user's handlers get what came early first, and the handler of the opening is gone")
    func early() throws {
        let recorder = Recorder()
        let opening = try Opening { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(recorder)
                return 5
            }
        }
        for byte in Self.success.dropLast() { try opening.receive([byte]) }
        #expect(recorder.events.isEmpty)
        try opening.receive(Self.success.suffix(1) + [0x16, 3])
        try opening.receive([1])
        #expect(recorder.bytes == [0x16, 3, 1])
        #expect(try opening.opened.wait().output.wait() == 5)
        #expect(throws: ChannelPipelineError.self) {
            try opening.channel.pipeline.syncOperations.handler(type: RelayOpeningHandler<Int>.self)
        }
        _ = try opening.channel.finish()
    }

    @Test("Where the user's handlers take their time, all that comes meanwhile is held, and is in order")
    func late() throws {
        let recorder = Recorder()
        let ready = NIOLockedValueBox<EventLoopPromise<Int>?>(nil)
        let opening = try Opening { channel in
            let promise = channel.eventLoop.makePromise(of: Int.self)
            ready.withLockedValue { $0 = promise }
            return promise.futureResult
        }
        try opening.receive(Self.success + [1])
        try opening.receive([2])
        try opening.channel.pipeline.syncOperations.addHandler(recorder)
        try opening.receive([3])
        #expect(recorder.events.isEmpty)
        ready.withLockedValue(\.self)?.succeed(5)
        try opening.receive([4])
        #expect(recorder.bytes == [1, 2, 3, 4])
        _ = try opening.channel.finish()
    }

    @Test("A pipe that ends while the user's handlers are being added delivers what was held before its end")
    func endsEarly() throws {
        let recorder = Recorder()
        let ready = NIOLockedValueBox<EventLoopPromise<Int>?>(nil)
        let opening = try Opening { channel in
            let promise = channel.eventLoop.makePromise(of: Int.self)
            ready.withLockedValue { $0 = promise }
            return promise.futureResult
        }
        try opening.receive(Self.success + [1])
        try opening.channel.pipeline.syncOperations.addHandler(recorder)
        try opening.channel.close().wait()
        ready.withLockedValue(\.self)?.succeed(5)
        #expect(recorder.events == [.bytes([1]), .end])
        #expect(try opening.opened.wait().output.wait() == 5)
    }

    @Test("An initializer that fails closes the pipe")
    func failure() throws {
        let opening = try Opening { $0.eventLoop.makeFailedFuture(ChannelError.inappropriateOperationForState) }
        try opening.receive(Self.success)
        #expect(throws: ChannelError.self) { try opening.opened.wait().output.wait() }
        #expect(!opening.channel.isActive)
    }

    @Test("A relay that closes, or answers something else, is an error, and the initializer is not called")
    func refused() throws {
        for bytes in [RelayMessage.ping.bytes, RelayMessage.response(RelayResponse(code: 1, text: [])).bytes, nil] {
            let opening = try Opening { channel in
                Issue.record("a pipe is open")
                return channel.eventLoop.makeSucceededFuture(1)
            }
            if let bytes { try opening.receive(bytes) } else { try opening.channel.close().wait() }
            let error = #expect(throws: RelayError.self) { try opening.opened.wait() }
            #expect(!opening.channel.isActive && error?.message.contains("r:1") == true)
        }
    }
}

/// Keeps what reaches the end of a pipeline.
private final class Recorder: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    enum Event: Equatable {
        case bytes([UInt8])
        case end
    }

    private let recorded = NIOLockedValueBox<[Event]>([])

    var events: [Event] { recorded.withLockedValue(\.self) }

    var bytes: [UInt8] {
        events.flatMap { event -> [UInt8] in if case .bytes(let bytes) = event { bytes } else { [] } }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        recorded.withLockedValue { $0.append(.bytes(bytes)) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        recorded.withLockedValue { $0.append(.end) }
    }
}
