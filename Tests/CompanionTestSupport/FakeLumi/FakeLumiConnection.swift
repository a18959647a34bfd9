import FoundationEssentials
import NIOConcurrencyHelpers
import NIOCore

/// An action of a host on a connection. The host does its actions in order.
enum FakeLumiAction: Sendable {
    case write([UInt8])
    case hold(String)
    case close
    case reset
}

/// One connection: what is read comes as it was read, so that frames can be lost as older hosts lose them.
struct FakeLumiConnection: Sendable {
    private let channel: any Channel
    private let reads: AsyncStream<ByteBuffer>

    init(channel: any Channel) throws {
        let reader = InboundParts<ByteBuffer>()
        try channel.pipeline.syncOperations.addHandler(reader)
        self.channel = channel
        reads = reader.stream
    }

    /// Answers commands until the connection ends. A client that leaves is no fault.
    func serve(_ state: FakeLumiState) async {
        let number = state.connect(channel)
        try? await answer(number, state)
        state.disconnect(number)
        try? await channel.close()
    }

    private func answer(_ number: Int, _ state: FakeLumiState) async throws {
        var parser = FakeLumiParser()
        for await read in reads {
            state.noteRead()
            let payloads: [[UInt8]]
            do throws(FakeLumiParser.End) {
                payloads = try parser.take(read, byRead: state.script.parsesByRead)
            } catch {
                return error == .crash ? state.crash() : ()
            }
            for payload in payloads {
                for action in state.actions(for: payload, connection: number) {
                    guard try await perform(action, state) else { return }
                }
            }
        }
    }

    /// - Returns: Whether the connection still stands.
    private func perform(_ action: FakeLumiAction, _ state: FakeLumiState) async throws -> Bool {
        switch action {
        case .write(let bytes):
            return await channel.write(all: bytes)
        case .hold(let gate):
            state.gates.open("reached \(gate)")
            try await state.gates.pass("release \(gate)")
        case .close:
            return false
        case .reset:
            await channel.reset()
            return false
        }
        return true
    }
}

/// Cuts what was read into payloads.
private struct FakeLumiParser {
    private var rest = ByteBuffer()

    enum End: Error {
        /// The app ends.
        case crash
        /// The connection is closed.
        case close
    }

    /// - Parameter byRead: As older hosts do: a read that does not hold one whole frame is lost, and one with two of
    ///   them ends the app.
    mutating func take(_ read: ByteBuffer, byRead: Bool) throws(End) -> [[UInt8]] {
        if byRead { rest.clear() }
        rest.writeImmutableBuffer(read)
        var payloads: [[UInt8]] = []
        while let length = rest.getInteger(at: rest.readerIndex, as: UInt32.self) {
            guard byRead || length <= 8 << 20 else { throw .close }
            guard rest.readableBytes >= 4 + Int(length) else { break }
            rest.moveReaderIndex(forwardBy: 4)
            payloads.append(rest.readBytes(length: Int(length)) ?? [])
            if byRead, rest.readableBytes > 0 { throw .crash }
        }
        return payloads
    }
}
