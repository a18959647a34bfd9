import Glibc
import NIOConcurrencyHelpers

/// What is seen to even where a process ends at once: by a second signal, or because nobody reads its output any more.
enum AbruptEnd {
    private static let duties = NIOLockedValueBox<[@Sendable () -> Void]>([])

    /// - Parameter duty: Called on any thread; must not wait for anybody, and may be called after a tidy end, too.
    static func add(_ duty: @escaping @Sendable () -> Void) {
        duties.withLockedValue { $0.append(duty) }
    }

    /// Sees to the duties, each once.
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
