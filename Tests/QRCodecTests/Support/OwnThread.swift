import Dispatch
import Testing

/// Runs tests that compute for seconds, one after another, on a thread of their own: those of the pool are few, and tests
/// over sockets wait for one. On a busy machine they waited for minutes.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    private static let executor = Executor()

    let isRecursive = true

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Self.executor) { try await function() }
    }

    private final class Executor: TaskExecutor {
        private let queue = DispatchQueue(label: "computing")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}

extension Trait where Self == OwnThread {
    static var onOwnThread: Self { OwnThread() }
}
