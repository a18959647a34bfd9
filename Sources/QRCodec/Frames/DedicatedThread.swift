import Glibc

/// Runs calls that block for long on a thread of their own, so that no queue or pool has to do without one.
package enum DedicatedThread {
    /// - Throws: What the body throws; ``QRCodecError`` with the code `io` where there can be no more threads.
    package static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            let job = Unmanaged.passRetained(Job { continuation.resume(with: Result(catching: body)) })
            var thread = pthread_t()
            let status = pthread_create(&thread, nil, runJob, job.toOpaque())
            guard status != 0 else {
                pthread_detach(thread)
                return
            }
            job.release()
            let reason = String(cString: strerror(status))
            continuation.resume(throwing: QRCodecError(.io, message: "A thread could not be started: \(reason)."))
        }
    }
}

private final class Job: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runJob(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body()
    return nil
}
