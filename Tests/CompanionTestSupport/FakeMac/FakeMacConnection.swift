import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// What a host does on a connection, in order.
package enum FakeMacAction: Sendable {
    case send([UInt8])
    /// One byte at a time.
    case drip([UInt8])
    case hold(String)
    case close
    case reset
    case perform(@Sendable () -> Void)

    package static func send(_ text: String) -> FakeMacAction { .send(Array(text.utf8)) }
}

/// Who answers the requests of a connection.
protocol ConnectionAnswering: Sendable {
    var gates: Gates { get }
    func answer(to request: FakeMac.Request) -> [FakeMacAction]
}

/// One connection: requests are parsed, answers are bytes, so that anything can be sent.
///
/// The parts of requests go through a stream of its own: `NIOAsyncChannel` insists on being served, and a connection
/// that is accepted in a test's last moment is not.
struct FakeMacConnection: Sendable {
    private let channel: any Channel
    private let parts: AsyncStream<HTTPServerRequestPart>

    init(channel: any Channel) throws {
        let (parts, continuation) = AsyncStream<HTTPServerRequestPart>.makeStream()
        let decoder = ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes))
        try channel.pipeline.syncOperations.addHandlers([decoder, PartsHandler(continuation: continuation)])
        self.channel = channel
        self.parts = parts
    }

    private final class PartsHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart

        private let continuation: AsyncStream<HTTPServerRequestPart>.Continuation

        init(continuation: AsyncStream<HTTPServerRequestPart>.Continuation) {
            self.continuation = continuation
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            continuation.yield(unwrapInboundIn(data))
        }

        func channelInactive(context: ChannelHandlerContext) {
            continuation.finish()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            continuation.finish()
        }
    }

    /// Answers requests until the connection ends. A client that leaves is no fault.
    func serve(_ state: some ConnectionAnswering) async {
        try? await answerRequests(state)
        try? await channel.close()
    }

    private func answerRequests(_ state: some ConnectionAnswering) async throws {
        var head: HTTPRequestHead?
        var body: [UInt8] = []
        for await part in parts {
            switch part {
            case .head(let next):
                head = next
                body = []
            case .body(let bytes):
                body += bytes.readableBytesView
            case .end:
                guard let current = head else { continue }
                let request = FakeMac.Request(
                    method: current.method.rawValue,
                    target: current.uri,
                    headers: current.headers.map { ($0.name, $0.value) },
                    body: body
                )
                guard try await perform(state.answer(to: request), state) else { return }
            }
        }
    }

    /// Goes on with what happens at the host when the client is gone.
    ///
    /// - Returns: Whether the connection still stands.
    private func perform(
        _ actions: [FakeMacAction],
        _ state: some ConnectionAnswering
    ) async throws -> Bool {
        var isOpen = true
        for action in actions {
            switch action {
            case .send(let bytes):
                if isOpen { isOpen = await write(bytes) }
            case .drip(let bytes):
                for byte in bytes where isOpen { isOpen = await write([byte]) }
            case .hold(let gate):
                state.gates.open("reached \(gate)")
                try await state.gates.pass("release \(gate)")
            case .close:
                isOpen = false
                try? await channel.close()
            case .reset:
                isOpen = false
                // Closing a socket that does not linger at all makes the system send RST.
                let linger = linger(l_onoff: 1, l_linger: 0)
                try? await (channel as? any SocketOptionProvider)?.setSoLinger(linger).get()
                try? await channel.close()
            case .perform(let effect):
                effect()
            }
        }
        return isOpen
    }

    private func write(_ bytes: [UInt8]) async -> Bool {
        do {
            // Waits until the system has the bytes: closing a channel drops what is not yet written.
            try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
            return true
        } catch {
            return false
        }
    }
}
