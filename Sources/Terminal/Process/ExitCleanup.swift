import NIOConcurrencyHelpers

/// Cleanup that runs even if the process ends at once: by a second signal, or because the reader of its output is gone.
package enum ExitCleanup {
    private static let duties = NIOLockedValueBox<[@Sendable () -> Void]>([])

    /// - Parameter duty: Called on any thread; must not wait. May also be called after a normal end.
    package static func add(_ duty: @escaping @Sendable () -> Void) {
        duties.withLockedValue { $0.append(duty) }
    }

    /// Runs each cleanup once.
    package static func prepare() {
        let all = duties.withLockedValue { duties in
            defer { duties = [] }
            return duties
        }
        for duty in all { duty() }
    }
}
