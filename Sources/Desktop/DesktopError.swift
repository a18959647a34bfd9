/// Why something of the desktop cannot be had.
package struct DesktopError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure. New ones may be added, so a `switch` needs a `default`.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String, Sendable {
            case noDirectory = "no_directory"
            case directoryGone = "directory_gone"
            case watchLimit = "watch_limit"
            case noBus = "no_bus"
            case noAnswer = "no_answer"
            case refused
            case noScreen = "no_screen"
            case missingLibrary = "missing_library"
            case unsupportedScreen = "unsupported_screen"
            case noProgram = "no_program"
            case noClipboard = "no_clipboard"
            case empty
            case tooLarge = "too_large"
            case failed
        }
        private let value: Value

        /// There is no such directory, or it may not be read.
        package static let noDirectory = Code(value: .noDirectory)
        /// The directory was there, and is no more.
        package static let directoryGone = Code(value: .directoryGone)
        /// The system watches no more files for this user.
        package static let watchLimit = Code(value: .watchLimit)
        /// There is no session bus.
        package static let noBus = Code(value: .noBus)
        /// Nobody on the bus answers to that name.
        package static let noAnswer = Code(value: .noAnswer)
        /// The user, or the desktop in the user's place, said no.
        package static let refused = Code(value: .refused)
        /// There is no desktop to look at.
        package static let noScreen = Code(value: .noScreen)
        /// A library that is needed is not installed.
        package static let missingLibrary = Code(value: .missingLibrary)
        /// The screen's colours are of a kind that is not read.
        package static let unsupportedScreen = Code(value: .unsupportedScreen)
        /// A program that is needed is not installed.
        package static let noProgram = Code(value: .noProgram)
        /// There is no desktop that has a clipboard.
        package static let noClipboard = Code(value: .noClipboard)
        /// There is nothing in the clipboard that could be read.
        package static let empty = Code(value: .empty)
        /// The content is larger than what is read.
        package static let tooLarge = Code(value: .tooLarge)
        /// A program, or the desktop, did not do its work.
        package static let failed = Code(value: .failed)

        /// The stable name of the code, such as `no_screen`.
        package var description: String { value.rawValue }
    }

    /// The kind of error.
    package let code: Code
    /// The error and its cause as a sentence for people, without a full stop.
    package let message: String
    /// Advice or a command that helps the user, without a full stop; nil if none is known.
    package let remedy: String?
    /// The file of pairtool's source where the error was made: `Module/File.swift`.
    package let file: String
    package let line: Int

    package init(
        _ code: Code,
        message: String,
        remedy: String? = nil,
        file: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.file = file
        self.line = line
    }

    package var description: String { message }
}
