internal import CConfinement
import Glibc

/// Runs what decodes strangers' pictures on a thread that has given up the right to open or change files, to make
/// sockets and to start programs. The rest of the program keeps its rights.
///
/// The thread runs with all rights if the kernel has neither Landlock nor filters of system calls. The threads of a
/// process share its memory: this stops what a decoder does, not somebody who has taken over the whole process.
package enum DecodingSandbox {
    /// The restrictions that the kernel enforces on such a thread; empty for none.
    package struct Enforcement: OptionSet, Sendable, Hashable {
        package let rawValue: Int32

        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// No access to files by their paths and, from version 4 of Landlock on, no TCP (landlock(7)).
        package static let landlock = Enforcement(rawValue: Int32(CONFINED_BY_LANDLOCK))
        /// No system calls that make sockets, start programs or open files (seccomp(2)).
        package static let systemCallFilter = Enforcement(rawValue: Int32(CONFINED_BY_SECCOMP))
    }

    /// Returns the restrictions that this machine's kernel enforces, tried on a thread.
    ///
    /// - Throws: ``QRCodecError`` with the code `decoderFailed`.
    package static func enforcement() throws(QRCodecError) -> Enforcement {
        try runConfined { $0 }
    }

    /// Runs a body and waits for its end.
    ///
    /// Shared libraries that it needs must be open already.
    ///
    /// - Throws: ``QRCodecError`` with the code `decoderFailed` where no thread can be started.
    package static func run<R>(_ body: () -> R) throws(QRCodecError) -> R {
        try runConfined { _ in body() }
    }

    private static func runConfined<R>(_ body: (Enforcement) -> R) throws(QRCodecError) -> R {
        var result: R?
        let status = withoutActuallyEscaping(body) { body in
            withUnsafeMutablePointer(to: &result) { result in
                let job = Unmanaged.passRetained(ConfinedJob { result.pointee = body($0) })
                var thread = pthread_t()
                let status = pthread_create(&thread, nil, runConfinedJob, job.toOpaque())
                if status == 0 { pthread_join(thread, nil) } else { job.release() }
                return status
            }
        }
        guard let result else {
            let reason = String(cString: strerror(status))
            throw QRCodecError(
                .decoderFailed,
                message: "A thread to decode pictures in could not be started: \(reason)."
            )
        }
        return result
    }
}

private final class ConfinedJob {
    let body: (DecodingSandbox.Enforcement) -> Void

    init(_ body: @escaping (DecodingSandbox.Enforcement) -> Void) { self.body = body }
}

private func runConfinedJob(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let job = Unmanaged<ConfinedJob>.fromOpaque(context).takeRetainedValue()
    job.body(DecodingSandbox.Enforcement(rawValue: confine_thread()))
    return nil
}
