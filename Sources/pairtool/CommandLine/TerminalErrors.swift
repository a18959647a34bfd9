import CompanionApp
import LocalState
package import PairingAgent
package import Terminal

extension NamedFileError: DescribedError {
    package var opensWithName: Bool { code != .unnamed }

    package var described: AppError {
        switch code {
        case .unnamed:
            AppError(.usage, "usage", description, next: "name a file, or - for standard input")
        case .notFound: AppError(.nothingFound, "file.not_found", description, next: nameHint)
        case .denied: AppError(.permissionDenied, "file.denied", description)
        case .unreadable: AppError(.failed, "file.unreadable", description)
        case .unwritable: AppError(.failed, "file.unwritable", description)
        }
    }

    /// A hint for a name that is not UTF-8: the command line passes its bytes as U+FFFD.
    private var nameHint: String? {
        guard file.unicodeScalars.contains("\u{FFFD}") else { return nil }
        return "pairtool cannot open a name that is not UTF-8; give the file on standard input: - < FILE"
    }
}

extension TextEditor.Failure: DescribedError {
    package var described: AppError {
        AppError(.failed, code == .noTerminal ? "terminal.none" : "editor.failed", description, next: remedy)
    }
}

extension TerminalContext {
    /// The bytes of a file, or of standard input.
    ///
    /// - Parameter file: A path, or `-`.
    /// - Returns: Nil if there are more than `limit` bytes.
    /// - Throws: ``AppError`` if a file cannot be read: `file.not_found`, `file.denied`, `file.unreadable`.
    ///   `CancellationError` when the user interrupts.
    func content(of file: String = "-", limit: Int) async throws -> [UInt8]? {
        do {
            return try await BlockingCall.run {
                file == "-" ? try stdin.readAll(limit: limit) : try InputFile.read(file, limit: limit)
            }
        } catch let error as NamedFileError {
            throw AppError(describing: error)
        }
    }
}
