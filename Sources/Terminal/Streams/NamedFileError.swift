/// A file that the user named cannot be read, or not be written to.
package struct NamedFileError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: Sendable {
        /// The name is empty.
        case unnamed
        case notFound
        /// The user may not read it.
        case denied
        case unreadable
        case unwritable
    }

    package let code: Code
    /// As the user wrote it.
    package let file: String
    /// A sentence that begins with the name of the file.
    package let description: String

    init(_ code: Code, file: String, _ description: String) {
        self.code = code
        self.file = file
        self.description = description
    }
}
