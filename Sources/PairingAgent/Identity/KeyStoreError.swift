/// Why the device's key could not be used.
package struct KeyStoreError: Error, Sendable, CustomStringConvertible {
    package struct Code: Sendable, Hashable {
        private enum Value: Sendable { case library, permissions, damaged, io, missing }
        private let value: Value

        /// The key file can be read or replaced by others.
        package static let permissions = Code(value: .permissions)
        /// The key file is not one, or was cut short or changed.
        package static let damaged = Code(value: .damaged)
        package static let io = Code(value: .io)
        /// No key was made yet.
        package static let missing = Code(value: .missing)
        /// libsodium could not give what was asked for.
        package static let library = Code(value: .library)
    }

    package let code: Code
    /// What happened, and why.
    package let message: String
    /// The command or act that helps, if there is one.
    package let remedy: String?
    package let file: String
    package let line: Int

    init(_ code: Code, _ message: String, remedy: String? = nil, file: String = #fileID, line: Int = #line) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.file = file
        self.line = line
    }

    package var description: String { message }
}
