import CompanionWire
package import FoundationEssentials
import NIOConcurrencyHelpers
import NIOCore

/// A turn that goes on, as its readers see it: frames appear once they are stored, and the newest are kept here.
///
/// Readers are only woken, and fetch the frames that they have not seen. One that has fallen behind the kept frames
/// reads from the database, so nothing is held for slow readers.
final class TurnFeed: Sendable {
    /// Bytes of frames that are kept for readers that keep up.
    static let keptSize = 256 << 10

    /// The next step of a reader.
    enum Step: Sendable {
        case frames([TurnFrame])
        /// The next frames are in the database only.
        case readStored
        case end(TurnState)
        case wait
    }

    private struct State {
        var published = 0
        var stored = 0
        var isOpened = false
        var kept = CircularBuffer<TurnFrame>()
        var keptSize = 0
        var outcome: TurnState?
        var failure: CompanionHostError?
        var beats = 0
        var wakers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextWaker = 0
    }

    let id: String
    let chatID: String
    private let state = NIOLockedValueBox(State())
    private let onFailure: @Sendable () -> Void

    /// - Parameter onFailure: Called when the database does not take the turn's frames.
    init(id: String, chatID: String, onFailure: @escaping @Sendable () -> Void = {}) {
        self.id = id
        self.chatID = chatID
        self.onFailure = onFailure
    }

    /// Gives the next number to a frame, and calls `make` with it under the same lock, so that frames are passed on in
    /// the order of their numbers.
    func publish(_ make: (Int) -> Void) {
        state.withLockedValue { state in
            state.published += 1
            make(state.published)
        }
    }

    // MARK: What the database has

    func opened() {
        wake { $0.isOpened = true }
    }

    func stored(_ frames: [TurnFrame]) {
        wake { state in
            for frame in frames {
                state.kept.append(frame)
                state.keptSize += frame.bytes.readableBytes
                state.stored = frame.number
            }
            while state.keptSize > Self.keptSize, state.kept.count > 1 {
                state.keptSize -= state.kept.removeFirst().bytes.readableBytes
            }
        }
    }

    func ended(_ outcome: TurnState) {
        wake { $0.outcome = outcome }
    }

    /// The database does not take the turn's frames: its readers end, and nothing more of it is stored.
    func failed(_ failure: CompanionHostError) {
        wake { $0.failure = failure }
        onFailure()
    }

    var hasFailed: Bool { state.withLockedValue { $0.failure != nil } }

    /// Tells the readers that it is time for a sign of life.
    func beat() {
        wake { $0.beats += 1 }
    }

    private func wake(_ change: (inout State) -> Void) {
        let wakers = state.withLockedValue { state in
            change(&state)
            return Array(state.wakers.values)
        }
        for waker in wakers { waker.yield() }
    }

    // MARK: What readers do

    var beats: Int { state.withLockedValue { $0.beats } }

    /// Returns the next step of a reader that has all frames up to a number.
    ///
    /// - Parameter number: The number of the last frame that it has; 0 for none.
    /// - Throws: The failure, once the database did not take the turn's frames.
    func step(after number: Int) throws(CompanionHostError) -> Step {
        let (step, failure) = state.withLockedValue { state -> (Step, CompanionHostError?) in
            if let failure = state.failure { return (.wait, failure) }
            guard number < state.stored else { return (state.outcome.map(Step.end) ?? .wait, nil) }
            guard let first = state.kept.first?.number, first <= number + 1 else { return (.readStored, nil) }
            return (.frames(Array(state.kept.dropFirst(number + 1 - first))), nil)
        }
        if let failure { throw failure }
        return step
    }

    /// The number of the last frame that readers can see.
    var lastStored: Int { state.withLockedValue { $0.stored } }

    /// Returns a stream with an element whenever there may be a next step. Ends with ``stopWaking(_:)``.
    func startWaking() -> (id: Int, stream: AsyncStream<Void>) {
        let (stream, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLockedValue { state in
            state.nextWaker += 1
            state.wakers[state.nextWaker] = waker
            return state.nextWaker
        }
        return (id, stream)
    }

    func stopWaking(_ id: Int) {
        state.withLockedValue { $0.wakers.removeValue(forKey: id) }?.finish()
    }

    /// Returns once the turn is in the database.
    func waitUntilOpened() async throws {
        _ = try await wait { $0.isOpened ? true : nil }
    }

    /// Returns once all of the turn is in the database.
    func waitForEnd() async throws -> TurnState {
        try await wait { $0.outcome }
    }

    private func wait<Value: Sendable>(_ pick: @escaping @Sendable (State) -> Value?) async throws -> Value {
        let (id, stream) = startWaking()
        defer { stopWaking(id) }
        var waker = stream.makeAsyncIterator()
        while true {
            let (value, failure) = state.withLockedValue { (pick($0), $0.failure) }
            if let value { return value }
            if let failure { throw failure }
            guard await waker.next() != nil else { throw CancellationError() }
        }
    }
}

/// One frame of a turn, numbered from 1. All streams share its bytes.
struct TurnFrame: Sendable {
    let number: Int
    /// An `id` line, the `data` line and a blank line.
    let bytes: ByteBuffer
    private let prefix: Int

    /// - Parameter data: The frame as v1 has it: a `data` line and a blank line.
    init(number: Int, data: ByteBuffer) {
        self.number = number
        var buffer = ByteBufferAllocator().buffer(capacity: data.readableBytes + 24)
        buffer.writeString("id: \(number)\n")
        prefix = buffer.readableBytes
        buffer.writeImmutableBuffer(data)
        bytes = buffer
    }

    init(number: Int, event: TurnEvent) {
        self.init(number: number, data: ByteBuffer(string: TurnFrames.encode(event)))
    }

    private static let ofV2 = ["approval_", "agent_"].map { Array(#"data: {"type":"\#($0)"#.utf8) }

    private static let ofACP = Array(#"data: {"type":"agent_acp"#.utf8)

    /// Whether it is in the agent's own words.
    var isACP: Bool { data.readableBytesView.starts(with: Self.ofACP) }

    /// Whether v1 has such frames.
    var isOfV1: Bool { !Self.ofV2.contains { data.readableBytesView.starts(with: $0) } }

    /// The frame without its number, as v1 has it.
    var data: ByteBuffer {
        bytes.getSlice(at: bytes.readerIndex + prefix, length: bytes.readableBytes - prefix) ?? bytes
    }
}

/// A turn as the protocol describes it.
package struct TurnSummary: Codable, Sendable, Hashable {
    package var turnId: String
    package var chatId: String
    package var state: TurnState
    /// When the host accepted it, which may be before it runs.
    package var startedAt: Date
    /// nil for a turn that waits or runs.
    package var endedAt: Date?
}
