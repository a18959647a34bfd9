import CompanionWire
import Dispatch
import Glibc
import LocalState
import NIOConcurrencyHelpers

/// Shows output that does not fit the window in the user's pager.
///
/// Output is kept until it is longer than the window: short output needs no pager. A thread of its own waits for the
/// pager; who writes does not.
package final class Pager: TextSink {
    private struct State {
        /// The bytes that are not written yet.
        var queue: [UInt8] = []
        var rows = 0
        /// Whether the output is whole.
        var hasEnded = false
        var phase = Phase.waiting
        /// The pager's standard input, while more is written there.
        var descriptor: Int32?
        /// Resumes the writer, which waits until the user has read on.
        var waiting: CheckedContinuation<Void, Never>?
    }

    private enum Phase {
        /// Nothing is written yet.
        case waiting
        case running
        /// The user has left the pager: what else is written is not wanted.
        case left
        /// There is no pager.
        case direct
    }

    private let context: TerminalContext
    private let command: String
    private let state = NIOLockedValueBox(State())
    /// Counts changes of the state that the thread waits for.
    private let changes = DispatchSemaphore(value: 0)

    /// With more to write than this, the next part of the output is waited with.
    private static let mostQueued = 1 << 20
    /// A pager that has taken more than this is one that runs: a pipe holds 64 KiB.
    private static let mostUnread = 128 << 10

    /// Runs a body with output that goes to the pager: `$PAGER`, or less.
    ///
    /// - Parameters:
    ///   - isWanted: Whether there is to be a pager. There is none if standard output is no terminal, if the output is
    ///     not for people, and if `PAGER` is empty or `cat`.
    ///   - body: Gets the output, and the pager if there is one.
    package static func with<R: Sendable>(
        _ output: Output,
        isWanted: Bool,
        _ body: (Output, Pager?) async throws -> R
    ) async throws -> R {
        let context = output.context
        let command = context.environment["PAGER"] ?? "less -FRX"
        guard isWanted, output.format == .text, context.stdoutIsTerminal, context.environment["TERM"] != "dumb",
            !command.isEmpty, command != "cat"
        else { return try await body(output, nil) }
        let pager = Pager(context: context, command: command)
        var paged = output
        paged.context.stdout = pager
        // Ctrl-C is the pager's: it stops a search there.
        return try await Interrupts.shared.withHandler { number in
            number == SIGINT && pager.isRunning
        } _: {
            async let writing: Void = BlockingCall.run { pager.run() }
            do {
                let result = try await body(paged, pager)
                pager.end()
                try await writing
                return result
            } catch {
                pager.end()
                try? await writing
                throw error
            }
        }
    }

    private init(context: TerminalContext, command: String) {
        (self.context, self.command) = (context, command)
    }

    /// Whether the user sees the pager.
    private var isRunning: Bool {
        state.withLockedValue { state in
            guard state.phase == .running else { return false }
            guard let descriptor = state.descriptor else { return true }
            var entry = pollfd(fd: descriptor, events: 0, revents: 0)
            return poll(&entry, 1, 0) == 0
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer) {
        let isDirect = state.withLockedValue { state in
            switch state.phase {
            case .left: return false
            case .direct: return true
            case .waiting, .running: break
            }
            state.queue += bytes
            state.rows += bytes.count { $0 == UInt8(ascii: "\n") }
            return false
        }
        if isDirect { context.stdout.write(bytes) } else { changes.signal() }
    }

    /// Waits until the user has read on, if much is unread.
    ///
    /// - Returns: Whether more output is wanted.
    package func wantsMore() async throws -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLockedValue { state in
                    guard state.phase == .running, state.queue.count > Self.mostQueued, !Task.isCancelled else {
                        return false
                    }
                    state.waiting = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            goOn()
        }
        try Task.checkCancellation()
        return state.withLockedValue { $0.phase != .left }
    }

    private func goOn() {
        let waiting = state.withLockedValue { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    private func end() {
        state.withLockedValue { $0.hasEnded = true }
        changes.signal()
    }

    // MARK: On the thread

    /// Writes what comes, to the pager or past it, until the output has ended and the user has left the pager. Blocks.
    private func run() {
        let rows = { [context] in context.windowSize()?.rows ?? 24 }
        while true {
            changes.wait()
            let (isLong, hasEnded) = state.withLockedValue { ($0.rows >= rows(), $0.hasEnded) }
            if isLong { break }
            if hasEnded { return writeDirectly([]) }
        }
        // Its keys are not the next prompt.
        context.withoutEditor(runPager)
    }

    private func runPager() {
        // Colours and links pass; other control characters do not.
        let options = context.environment["LESS"] == nil ? "LESS=FRX LV=-c " : ""
        guard let file = popen(options + command, "we") else { return writeDirectly([]) }
        state.withLockedValue { ($0.phase, $0.descriptor) = (.running, fileno(file)) }
        let (unread, hasRead) = write(to: file)
        state.withLockedValue { $0.descriptor = nil }
        let status = pclose(file)
        // The shell's status for a program that does not exist, or cannot be run.
        if !hasRead, [126, 127].contains(status >> 8) {
            writeDirectly(unread)
        } else {
            state.withLockedValue { ($0.phase, $0.queue) = (.left, []) }
        }
        goOn()
    }

    /// - Returns: The bytes that were written, and whether the pager has read of them; if it has, the bytes are not
    ///   kept.
    private func write(to file: UnsafeMutablePointer<FILE>) -> (written: [UInt8], hasRead: Bool) {
        var (kept, hasRead) = ([UInt8](), false)
        while true {
            let (bytes, hasEnded) = state.withLockedValue { state in
                defer { state.queue = [] }
                return (state.queue, state.hasEnded)
            }
            goOn()
            if !hasRead { kept += bytes }
            guard fwrite(bytes, 1, bytes.count, file) == bytes.count, fflush(file) == 0 else { return (kept, hasRead) }
            if kept.count > Self.mostUnread { (kept, hasRead) = ([], true) }
            if hasEnded { return (kept, hasRead) }
            changes.wait()
        }
    }

    /// Writes to standard output: some bytes, and what is in the queue, and what comes.
    private func writeDirectly(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { context.stdout.write($0) }
        while true {
            let rest = state.withLockedValue { state in
                defer { state.queue = [] }
                if state.queue.isEmpty { state.phase = .direct }
                return state.queue
            }
            guard !rest.isEmpty else { return }
            rest.withUnsafeBytes { context.stdout.write($0) }
        }
    }
}
