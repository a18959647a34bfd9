/// A request for approval was not decided as it was meant to be.
package struct JarvisDecisionError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case gone, overruled, undecided
            case alreadyDecided = "already_decided"
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// Someone else decided first: ``JarvisDecisionError/status`` is the decision. Nothing was sent.
        package static let alreadyDecided = Code(.alreadyDecided)
        /// The daemon has no such request, or has it no more.
        package static let gone = Code(.gone)
        /// The daemon took the decision, and another one after it: ``JarvisDecisionError/status`` is what won.
        package static let overruled = Code(.overruled)
        /// The daemon took the decision and still calls the request something else.
        package static let undecided = Code(.undecided)

        package var description: String { value.rawValue }
    }

    /// The reason why the decision did not count.
    package var code: Code
    /// The request that was decided.
    package var id: JarvisApprovalID
    /// The state of the request, if it is known. It is the daemon's word: sanitise it.
    package var status: JarvisApprovalStatus?
    /// For people.
    package var description: String

    init(_ code: Code, id: JarvisApprovalID, status: JarvisApprovalStatus? = nil, description: String) {
        self.code = code
        self.id = id
        self.status = status
        self.description = description
    }
}
