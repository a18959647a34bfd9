/// The data of a Lumi host could not be kept or read.
package struct LumiStoreError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case malformed, damaged, newer, unusable
            case tooLarge = "too_large"
            case neverPulled = "never_pulled"
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// The received file does not have the expected content; the previous one was kept.
        package static let malformed = Code(.malformed)
        /// The received file is larger than ``LumiStore/sizeLimit``; the previous one was kept.
        package static let tooLarge = Code(.tooLarge)
        /// A file on this machine does not hold what it should.
        package static let damaged = Code(.damaged)
        /// A newer version of pairtool wrote a file on this machine.
        package static let newer = Code(.newer)
        /// The system does not let a file be read or written.
        package static let unusable = Code(.unusable)
        /// Nothing was pulled from the host yet.
        package static let neverPulled = Code(.neverPulled)

        package var description: String { value.rawValue }
    }

    package let code: Code
    /// The message for people. Holds nothing of a file's content.
    package let message: String
    /// The command or act that helps, if there is one.
    package let remedy: String?

    init(_ code: Code, message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    package var description: String { message }
}
