import Glibc
import NIOConcurrencyHelpers

/// Cleanup that runs even if the process ends at once: by a second signal, or because the reader of its output is gone.
enum ExitCleanup {
    private static let duties = NIOLockedValueBox<[@Sendable () -> Void]>([])

    /// - Parameter duty: Called on any thread; must not wait. May also be called after a normal end.
    static func add(_ duty: @escaping @Sendable () -> Void) {
        duties.withLockedValue { $0.append(duty) }
    }

    /// Runs each cleanup once.
    static func prepare() {
        let all = duties.withLockedValue { duties in
            defer { duties = [] }
            return duties
        }
        for duty in all { duty() }
    }

    /// Ends the process at once, without the normal shutdown.
    static func exit(by signal: Int32) -> Never {
        prepare()
        _exit(ExitStatus.interrupted.number(endedBy: signal))
    }
}
