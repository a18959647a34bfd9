import NIOCore
import NIOHTTP1

/// An action of a host on a connection. The host does its actions in order.
package enum FakeMacAction: Sendable {
    case send([UInt8])
    /// One byte at a time.
    case drip([UInt8])
    /// Again and again, until the client leaves.
    case endless([UInt8])
    case hold(String)
    case close
    case reset
    case perform(@Sendable () -> Void)

    package static func send(_ text: String) -> FakeMacAction { .send(Array(text.utf8)) }
}

/// Decides how the requests of a connection are answered.
protocol ConnectionAnswering: Sendable {
    var gates: Gates { get }
    func answer(to request: FakeMac.Request) -> [FakeMacAction]
}

/// One connection: requests are parsed, answers are bytes, so that anything can be sent.
struct FakeMacConnection: Sendable {
    private let channel: any Channel
    private let parts: AsyncStream<HTTPServerRequestPart>

    init(channel: any Channel) throws {
        let reader = InboundParts<HTTPServerRequestPart>()
        let decoder = ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes))
        try channel.pipeline.syncOperations.addHandlers([decoder, reader])
        self.channel = channel
        parts = reader.stream
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
                if isOpen { isOpen = await channel.write(all: bytes) }
            case .drip(let bytes):
                for byte in bytes where isOpen { isOpen = await channel.write(all: [byte]) }
            case .endless(let bytes):
                while isOpen { isOpen = await channel.write(all: bytes) }
            case .hold(let gate):
                state.gates.open("reached \(gate)")
                try await state.gates.pass("release \(gate)")
            case .close:
                isOpen = false
                try? await channel.close()
            case .reset:
                isOpen = false
                await channel.reset()
            case .perform(let effect):
                effect()
            }
        }
        return isOpen
    }
}
