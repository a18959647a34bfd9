import FoundationEssentials
import NIOConcurrencyHelpers

/// The devices that have had turns, to be watched for the end of their time.
final class TurnWatches: Sendable {
    struct Watch: Sendable, Hashable {
        var device: String
        /// Distinguishes it from an earlier one of the same device.
        var number: UInt64
    }

    private struct State {
        var known: [String: (number: UInt64, end: Date?)] = [:]
        var next: UInt64 = 0
    }

    let stream: AsyncStream<Watch>
    private let source: AsyncStream<Watch>.Continuation
    private let state = NIOLockedValueBox(State())

    init() {
        (stream, source) = AsyncStream.makeStream()
    }

    /// Watches a device, unless it is watched with the same end already.
    func watch(_ device: String, until end: Date?) {
        let watch = state.withLockedValue { state -> Watch? in
            if let known = state.known[device], known.end == end { return nil }
            state.next += 1
            state.known[device] = (state.next, end)
            return Watch(device: device, number: state.next)
        }
        if let watch { source.yield(watch) }
    }

    /// Notes the end that a device has now.
    ///
    /// - Returns: Whether the watch goes on; not when a later one has taken its place.
    func renew(_ watch: Watch, until end: Date?) -> Bool {
        state.withLockedValue { state in
            guard state.known[watch.device]?.number == watch.number else { return false }
            state.known[watch.device]?.end = end
            return true
        }
    }
}
