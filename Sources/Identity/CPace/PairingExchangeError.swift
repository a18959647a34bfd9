/// Why the proof of a code or token failed. It never tells whether a guess was right.
package struct PairingExchangeError: Error, Sendable, CustomStringConvertible {
    package struct Code: Sendable, Hashable {
        private enum Value: Sendable { case badShare, badContext, library }
        private let value: Value

        /// The other side's share is the neutral element, not a point, or this side's own share.
        package static let badShare = Code(value: .badShare)
        /// A nonce, pin or list of permissions that the protocol does not allow.
        package static let badContext = Code(value: .badContext)
        /// libsodium failed.
        package static let library = Code(value: .library)
    }

    /// The kind of error.
    package let code: Code
    /// The message for users.
    package let message: String
    /// The source file that made the error, as `#fileID` gives it.
    package let file: String
    /// The line in ``file``.
    package let line: Int

    package init(_ code: Code, message: String, file: String = #fileID, line: Int = #line) {
        self.code = code
        self.message = message
        self.file = file
        self.line = line
    }

    init(_ error: KeyStoreError) {
        self.init(.library, message: error.message, file: error.file, line: error.line)
    }

    package var description: String { message }
}
