import Glibc
import NIOConcurrencyHelpers

extension DaemonEngine {
    /// Begins to connect on a thread of its own; the next engine that opens takes the connection over. To be called
    /// once.
    static func connectAhead() {
        // Nothing of concurrency has to be set up for this.
        var thread = pthread_t()
        guard pthread_create(&thread, nil, connectOnThread, nil) == 0 else { return }
        ahead.withLockedValue { $0 = AheadThread(id: thread) }
    }

    /// Waits until it is there.
    ///
    /// - Returns: nil where none was begun, or where it was taken.
    static func takeConnectionMadeAhead() throws(DiscoveryError) -> Connection? {
        let thread = ahead.withLockedValue { thread in
            defer { thread = nil }
            return thread
        }
        guard let thread else { return nil }
        var result: UnsafeMutableRawPointer?
        guard pthread_join(thread.id, &result) == 0, let result else { return nil }
        return try Unmanaged<AheadResult>.fromOpaque(result).takeRetainedValue().result.get()
    }

    private static let ahead = NIOLockedValueBox<AheadThread?>(nil)
}

private struct AheadThread: @unchecked Sendable {
    // Safe because it is a number.
    let id: pthread_t
}

/// What a thread came to, handed over when it is joined.
private final class AheadResult {
    let result: Result<DaemonEngine.Connection, DiscoveryError>

    init(_ result: Result<DaemonEngine.Connection, DiscoveryError>) {
        self.result = result
    }
}

private func connectOnThread(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let result = Result { () throws(DiscoveryError) in try DaemonEngine.connect() }
    return Unmanaged.passRetained(AheadResult(result)).toOpaque()
}
