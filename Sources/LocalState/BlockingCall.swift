import Dispatch

/// Runs blocking calls (reads from a terminal, file locks, image decoding) on threads of their own, so that they do not
/// occupy the cooperative threads.
package enum BlockingCall {
    private static let queue = DispatchQueue(label: "pairtool.blocking", attributes: .concurrent)

    package static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}
