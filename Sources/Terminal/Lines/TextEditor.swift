import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import Subprocess
import SystemPackage

/// Changes a text with the user's editor: `$VISUAL`, then `$EDITOR`, then vi.
package struct TextEditor {
    /// Why a text was not changed.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// The kinds of failures that callers distinguish.
        package enum Code: Sendable {
            case noTerminal
            /// The editor could not be started, failed, or left no text.
            case failed
        }

        package fileprivate(set) var code = Code.failed
        /// A sentence about the failure, which says that the text is as it was.
        package let description: String
        /// Advice for the user; nil if nothing helps.
        package let remedy: String?

        fileprivate init(_ description: String, remedy: String? = nil) {
            self.description = description
            self.remedy = remedy
        }

        static var noTerminal: Failure {
            var failure = Failure("there is no terminal to edit the text in")
            failure.code = .noTerminal
            return failure
        }
    }

    private let context: TerminalContext

    package init(context: TerminalContext) {
        self.context = context
    }

    /// The text is in a file that only this user may read, while the editor runs.
    ///
    /// - Returns: The changed text, without the line end that editors add.
    /// - Throws: ``Failure`` if the editor cannot be started, fails, or leaves no text.
    package func edit(_ text: String) async throws -> String {
        let path = "\(context.paths.runtime)/prompt-\(UUID().uuidString).md"
        do {
            try Array(text.utf8).withUnsafeBytes { try PrivateFile.write($0, to: path, isDurable: false) }
            defer { unlink(path) }
            try await run(on: path)
            guard let bytes = try PrivateFile.readRecord(path) else {
                throw Failure("the editor removed the file; the text is as it was")
            }
            guard let changed = String(validating: bytes, as: UTF8.self) else {
                throw Failure("the editor did not save UTF-8 text; the text is as it was")
            }
            return changed.ends(with: "\n") ? String(changed.dropLast()) : changed
        } catch let error as PrivateFile.Failure {
            throw Failure("\(error.description); the text is as it was")
        }
    }

    private var program: String {
        for name in ["VISUAL", "EDITOR"] {
            if let value = context.environment[name], !value.trimmingWhitespace().isEmpty { return value }
        }
        return "vi"
    }

    /// Runs the editor. As with git, Ctrl-C is the editor's: what was written is not lost.
    private func run(on path: String) async throws {
        defer { Interrupts.shared.drainWake() }
        try await Interrupts.shared.withHandler {
            $0 == SIGINT
        } _: {
            try await start(on: path)
        }
    }

    /// Starts the editor as git does: the variable may hold options, so that a shell has to read it.
    private func start(on path: String) async throws {
        let terminal = FileDescriptor(rawValue: context.stdoutIsTerminal ? STDOUT_FILENO : STDERR_FILENO)
        let outcome = try await Subprocess.run(
            .path("/bin/sh"),
            // The trap keeps Ctrl-C from ending the shell while the editor, which gets the signal too, goes on.
            arguments: ["-c", "trap : INT; \(program) \"$1\"", "pairtool", path],
            input: .fileDescriptor(.standardInput, closeAfterSpawningProcess: false),
            output: .fileDescriptor(terminal, closeAfterSpawningProcess: false),
            error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false)
        )
        guard outcome.terminationStatus == .exited(0) else {
            throw Failure(
                "the editor (\(program)) failed; the text is as it was",
                remedy: "set EDITOR to the editor that you use"
            )
        }
    }
}
