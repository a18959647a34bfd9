/// Why bytes are not the JSON that the protocol signs, or why a value cannot be written as such.
package struct JSONValueError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule that the JSON breaks.
    package struct Code: Sendable, Hashable {
        private enum Value: Sendable { case syntax, duplicateName, number, text, depth, conversion }
        private let value: Value

        /// Not JSON (RFC 8259), or something follows the value.
        package static let syntax = Code(value: .syntax)
        /// An object names a member twice.
        package static let duplicateName = Code(value: .duplicateName)
        /// A number with a fraction or an exponent, or beyond ±(2^53 - 1).
        package static let number = Code(value: .number)
        /// A string that is not UTF-8, or that holds half of a surrogate pair.
        package static let text = Code(value: .text)
        /// Arrays and objects are nested too deeply.
        package static let depth = Code(value: .depth)
        /// A Swift value could not be written as JSON, or made from it.
        package static let conversion = Code(value: .conversion)
    }

    /// The rule of canonical JSON that the value breaks.
    package let code: Code
    /// The broken rule as a sentence for people, without a full stop.
    package let message: String
    /// The offset of the error in the bytes that were read, from 0; nil if the error is about a Swift value.
    package let offset: Int?

    init(_ code: Code, message: String, offset: Int? = nil) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    /// The message, followed by the offset if there is one.
    package var description: String { offset.map { "\(message) (at byte \($0))" } ?? message }
}
