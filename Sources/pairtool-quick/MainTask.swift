import CommandCore
import Dispatch
import Glibc
import NIOConcurrencyHelpers

/// The work of a process that has no other.
enum MainTask {
    /// Runs a task and waits for it on this thread. The first SIGINT, SIGTERM or SIGHUP cancels it, the second ends the
    /// process; afterwards they do what they usually do.
    static func run<R: Sendable>(_ body: @escaping @Sendable () async -> R) -> R {
        let ended = DispatchSemaphore(value: 0)
        let result = NIOLockedValueBox<R?>(nil)
        let task = Task {
            let value = await body()
            result.withLockedValue { $0 = value }
            ended.signal()
        }
        let signals = Interrupts.shared.install { _ in
            if task.isCancelled { _exit(ExitStatus.interrupted.rawValue) }
            task.cancel()
            return true
        }
        return withExtendedLifetime(signals) {
            ended.wait()
            for source in signals { signal(Int32(source.handle), SIG_DFL) }
            // What listened to them may have blocked them in this thread, and a program that it becomes inherits that.
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            guard let value = result.withLockedValue(\.self) else { fatalError("the task ended without a result") }
            return value
        }
    }
}
