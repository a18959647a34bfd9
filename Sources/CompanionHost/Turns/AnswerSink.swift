import CompanionWire
import NIOConcurrencyHelpers

/// Takes the events of an agent, passes them on to the turn's readers, and collects the text that is to be stored.
struct AnswerSink: Sendable {
    /// Bytes of text that an answer may have. As many bytes of thoughts and tool reports are handed on besides; then a
    /// line says that the rest is left out.
    static let maximumSize = 8 << 20
    /// Events of the agent that an answer may have: one that sends pieces of one byte, thoughts or signs of life
    /// without an end is ended.
    static let usualEvents = 1_000_000
    /// Bytes that an answer may have in the agent's own words.
    static let acpSize = 32 << 20

    private struct State {
        var text = ""
        var events = 0
        /// Bytes of thoughts and tool reports so far.
        var reported = 0
        var isReportCut = false
        /// Bytes in the agent's own words so far.
        var told = 0
        var isClosed = false
        var frames = AgentFrames()
        var lastActivity = ContinuousClock.now
        /// The number of operations that wait for a person or for the host.
        var waits = 0
    }

    static let cutText = "Thoughts and tools over \(maximumSize >> 20) MiB are left out"

    private let state = NIOLockedValueBox(State())
    private let maximumEvents: Int
    private let publish: @Sendable (TurnEvent) -> Void
    /// Called when the answer gets too long.
    private let overflow: @Sendable () -> Void

    init(
        maximumEvents: Int = usualEvents,
        publish: @escaping @Sendable (TurnEvent) -> Void,
        overflow: @escaping @Sendable () -> Void
    ) {
        self.maximumEvents = maximumEvents
        self.publish = publish
        self.overflow = overflow
    }

    /// Passes an event on; dropped once the answer is closed.
    func emit(_ event: TurnEvent) {
        add { $0.take(event) }
    }

    /// Adds a paragraph of the host to the answer.
    func notice(_ text: String) {
        add { $0.notice(text) }
    }

    /// Notes that the agent works.
    func keepAlive() {
        add { _ in [] }
    }

    /// - Parameter frames: Makes the frames that readers get.
    private func add(_ frames: (inout AgentFrames) -> [TurnEvent]) {
        let isTooLong = state.withLockedValue { state in
            guard !state.isClosed else { return false }
            state.lastActivity = .now
            state.events += 1
            guard state.events <= maximumEvents else {
                state.isClosed = true
                return true
            }
            for frame in frames(&state.frames) {
                if case .text(let text) = frame {
                    guard state.text.utf8.count + text.utf8.count <= Self.maximumSize else {
                        state.isClosed = true
                        return true
                    }
                    state.text += text
                }
                if case .acp(let words) = frame {
                    guard state.told <= Self.acpSize else { continue }
                    state.told += words.size
                    publish(state.told <= Self.acpSize ? frame : .acp(ACPFrame(.cut)))
                    continue
                }
                if let size = frame.reportSize {
                    guard state.reported + size <= Self.maximumSize else {
                        if !state.isReportCut { publish(.status(Self.cutText)) }
                        state.isReportCut = true
                        continue
                    }
                    state.reported += size
                }
                // Under the lock, so that frames and stored text have the same order.
                publish(frame)
            }
            return false
        }
        if isTooLong { overflow() }
    }

    /// The mode that the agent named last in this turn.
    var mode: AgentMode? { state.withLockedValue { $0.frames.mode } }

    /// How long the agent has been silent. While it waits for a person or for the host, it is not.
    var silence: Duration {
        state.withLockedValue { $0.waits > 0 ? .zero : .now - $0.lastActivity }
    }

    /// Runs an operation that waits for a person or for the host. The agent does not count as silent meanwhile.
    func waiting<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        state.withLockedValue { $0.waits += 1 }
        defer {
            state.withLockedValue { state in
                state.waits -= 1
                state.lastActivity = .now
            }
        }
        return try await body()
    }

    /// Ends the answer.
    ///
    /// - Parameter isComplete: Whether the agent ended it well.
    /// - Returns: Its text.
    func close(isComplete: Bool) -> String {
        state.withLockedValue { state in
            if isComplete, !state.isClosed { state.frames.finish().forEach(publish) }
            state.isClosed = true
            return state.text
        }
    }
}
