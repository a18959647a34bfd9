package import Dispatch
import Glibc
import NIOConcurrencyHelpers

/// Turns SIGINT, SIGTERM and SIGHUP into calls. The innermost handler that accepts a signal gets it.
package final class Interrupts: Sendable {
    /// Those of this process.
    package static let shared = Interrupts()

    /// Becomes readable when a signal arrives, to wake a wait for input.
    package let wakeDescriptor: Int32
    private let wakeWriter: Int32
    /// Gets a signal's number and returns whether it has handled the signal.
    package typealias Handler = @Sendable (Int32) -> Bool

    private let handlers = NIOLockedValueBox<[Handler]>([])
    private let echoes = NIOLockedValueBox(SignalEchoes())

    private init() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        (wakeDescriptor, wakeWriter) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    /// Starts to listen for signals. A SIGHUP that is ignored at the start stays ignored: `nohup` does that.
    ///
    /// - Parameter handler: Called on a queue of its own for every signal that no inner handler accepts.
    /// - Returns: The signal sources. Handling stops when the caller releases them.
    package func install(_ handler: @escaping Handler) -> [any DispatchSourceSignal] {
        handlers.withLockedValue { $0.append(handler) }
        let queue = DispatchQueue(label: "pairtool.signals")
        return (Self.isIgnored(SIGHUP) ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]).map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [self] in deliver(number) }
            source.resume()
            return source
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Runs a body with its own handler for signals.
    package func withHandler<R>(
        _ handler: @escaping Handler,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> R
    ) async rethrows -> R {
        handlers.withLockedValue { $0.append(handler) }
        defer { handlers.withLockedValue { _ = $0.popLast() } }
        return try await body()
    }

    /// Waits for input, whatever signals came before. A signal, or cancelling the task, ends the wait.
    ///
    /// A signal wakes a read before it cancels the task: without the second wake, a loop that reads again would wait on.
    package func waiting<R>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> R
    ) async throws -> R {
        drainWake()
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await body()
        } onCancel: {
            wakeReader()
        }
    }

    /// Discards earlier signals, so that the next read waits.
    package func drainWake() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(wakeDescriptor, &bytes, bytes.count) > 0 {}
    }

    /// Waits until a descriptor can be read from (`POLLIN`) or written to (`POLLOUT`), or fails. Blocks.
    ///
    /// - Throws: `CancellationError` when a signal arrives.
    package func wait(for descriptor: Int32, events: Int32) throws {
        _ = try wait(for: descriptor, events: events, milliseconds: -1)
    }

    /// Does the same, for no longer than a time; -1 for any time.
    ///
    /// - Returns: False if the time is over.
    /// - Throws: `CancellationError` when a signal arrives.
    package func wait(for descriptor: Int32, events: Int32, milliseconds: Int32) throws -> Bool {
        try poll([pollfd(fd: descriptor, events: Int16(events), revents: 0)], milliseconds: milliseconds)
    }

    /// Waits. Blocks.
    ///
    /// - Throws: `CancellationError` when a signal arrives.
    package func pause(milliseconds: Int32) throws {
        _ = try poll([], milliseconds: milliseconds)
    }

    /// - Returns: Whether there is something to read or write, or that may be.
    private func poll(_ others: [pollfd], milliseconds: Int32) throws -> Bool {
        var entries = [pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)] + others
        while Glibc.poll(&entries, nfds_t(entries.count), milliseconds) < 0 {
            // Other failures concern the descriptor. Its next read or write reports them.
            guard errno == EINTR else { return true }
        }
        guard entries[0].revents == 0 else {
            drainWake()
            throw CancellationError()
        }
        return entries.dropFirst().contains { $0.revents != 0 }
    }

    /// Ends a wait for standard input, as a signal does.
    package func wakeReader() {
        var byte: UInt8 = 1
        _ = write(wakeWriter, &byte, 1)
    }

    private func deliver(_ number: Int32) {
        guard echoes.withLockedValue({ $0.isNew(number, at: .now) }) else { return }
        wakeReader()
        for handler in handlers.withLockedValue(\.self).reversed() where handler(number) { return }
    }
}

/// Finds signals that came before: `timeout` and shells send theirs to the process and to its group.
struct SignalEchoes: Sendable {
    /// The same signals within this time count as one.
    private static let limit = Duration.milliseconds(300)

    private var last: [Int32: ContinuousClock.Instant] = [:]

    /// Notes a signal.
    ///
    /// - Returns: Whether it is not the echo of the same one.
    mutating func isNew(_ number: Int32, at now: ContinuousClock.Instant) -> Bool {
        defer { last[number] = now }
        return last[number].map { now - $0 >= Self.limit } ?? true
    }
}
