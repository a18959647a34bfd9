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

    /// Ends the process without a tidy end.
    static func exit(_ status: ExitStatus) -> Never {
        prepare()
        _exit(status.rawValue)
    }
}
