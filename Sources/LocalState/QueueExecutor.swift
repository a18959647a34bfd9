package import Dispatch

/// Runs an actor on a serial dispatch queue: its blocking calls stay off the cooperative thread pool.
package final class QueueExecutor: SerialExecutor {
    /// The queue on which the actor's jobs run, one at a time.
    package let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The closure keeps the executor alive while the last job, an actor's deinitialiser, runs on it.
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
