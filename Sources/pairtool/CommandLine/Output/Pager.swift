import CompanionWire
import Glibc
import LocalState
import NIOConcurrencyHelpers

/// Shows output that does not fit the window in the user's pager.
///
/// Output is kept until it is longer than the window: short output needs no pager.
final class Pager: TextSink {
    private struct State {
        /// The whole output, which is written here if the pager cannot be run.
        var kept: [UInt8] = []
        var rows = 0
        var pipe: Pipe?
    }

    /// The pager's standard input.
    private struct Pipe: @unchecked Sendable {
        // Safe because the state's lock is held whenever it is used.
        let file: UnsafeMutablePointer<FILE>
    }

    private let context: CommandContext
    private let command: String
    private let state = NIOLockedValueBox(State())

    /// Runs a body with output that goes to the pager: `$PAGER`, or less.
    ///
    /// - Parameter isWanted: Whether there is to be a pager. There is none if standard output is no terminal, if the
    ///   output is not for people, and if `PAGER` is empty or `cat`.
    static func with<R>(_ output: Output, isWanted: Bool, _ body: (Output) async throws -> R) async throws -> R {
        let context = output.context
        let command = context.environment["PAGER"] ?? "less -FRX"
        guard isWanted, output.format == .text, context.stdoutIsTerminal, context.environment["TERM"] != "dumb",
            !command.isEmpty, command != "cat"
        else { return try await body(output) }
        let pager = Pager(context: context, command: command)
        var paged = output
        paged.context.stdout = pager
        // Ctrl-C is the pager's: it stops a search there.
        return try await Interrupts.shared.withHandler { number in
            number == SIGINT && pager.isRunning
        } _: {
            do {
                let result = try await body(paged)
                try await BlockingCall.run { pager.end() }
                return result
            } catch {
                try await BlockingCall.run { pager.end() }
                throw error
            }
        }
    }

    private init(context: CommandContext, command: String) {
        (self.context, self.command) = (context, command)
    }

    private var isRunning: Bool { state.withLockedValue { $0.pipe != nil } }

    func write(_ bytes: UnsafeRawBufferPointer) {
        state.withLockedValue { state in
            state.kept += bytes
            if let pipe = state.pipe {
                fwrite(bytes.baseAddress, 1, bytes.count, pipe.file)
                return
            }
            state.rows += bytes.count { $0 == UInt8(ascii: "\n") }
            guard state.rows >= context.windowSize()?.rows ?? 24 else { return }
            state.pipe = start()
            if let pipe = state.pipe { fwrite(state.kept, 1, state.kept.count, pipe.file) }
        }
    }

    private func start() -> Pipe? {
        // Colours and links pass; other control characters do not.
        let options = context.environment["LESS"] == nil ? "LESS=FRX LV=-c " : ""
        return popen(options + command, "w").map { Pipe(file: $0) }
    }

    /// Waits until the user has left the pager.
    private func end() {
        let pipe = state.withLockedValue(\.pipe)
        let status = pipe.map { pclose($0.file) }
        state.withLockedValue { state in
            state.pipe = nil
            // The shell's status for a program that does not exist, or cannot be run.
            let hasFailed = status.map { [126, 127].contains($0 >> 8) } ?? true
            if hasFailed { state.kept.withUnsafeBytes { context.stdout.write($0) } }
        }
    }
}
