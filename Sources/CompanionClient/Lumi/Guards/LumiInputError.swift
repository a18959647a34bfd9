/// A value that must not reach a Lumi host: the Mac puts what it is sent into scripts (lumi, Guards). Nothing was sent.
package struct LumiInputError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, and what would be right. For people.
    package let message: String

    init(_ message: String) {
        self.message = message
    }

    package var description: String { message }
}

extension String {
    /// Whether a text has a character that steers something: C0, DEL, C1.
    ///
    /// - Parameter allowing: Those that may stand all the same.
    func hasControls(allowing allowed: Set<Unicode.Scalar> = []) -> Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control && !allowed.contains($0) }
    }
}
