/// Why the device's key could not be used.
package struct KeyStoreError: Error, Sendable, CustomStringConvertible {
    package struct Code: Sendable, Hashable {
        private enum Value: Sendable { case library, permissions, damaged, io, missing }
        private let value: Value

        /// Other users can read or replace the key file.
        package static let permissions = Code(value: .permissions)
        /// The key file is damaged, or is not a key file.
        package static let damaged = Code(value: .damaged)
        /// The key file cannot be opened, read or written.
        package static let io = Code(value: .io)
        /// No key has been created yet.
        package static let missing = Code(value: .missing)
        /// libsodium failed.
        package static let library = Code(value: .library)
    }

    /// The kind of error.
    package let code: Code
    /// The message for users: what happened, and why.
    package let message: String
    /// The command to run, or what else to do; nil if nothing helps.
    package let remedy: String?
    /// The source file that made the error, as `#fileID` gives it.
    package let file: String
    /// The line in ``file``.
    package let line: Int

    init(_ code: Code, message: String, remedy: String? = nil, file: String = #fileID, line: Int = #line) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.file = file
        self.line = line
    }

    package var description: String { message }
}
