import ArgumentParser

/// What a name that the user gives to a device or host may be.
enum NameRule {
    /// Characters.
    static let longest = 64

    /// - Throws: `ValidationError` for a name that is empty, too long, or has control characters.
    static func check(_ name: String) throws {
        guard !name.trimmingBlanks().isEmpty else { throw ValidationError("The name is empty.") }
        guard name.count <= longest else { throw ValidationError("The name is longer than \(longest) characters.") }
        guard !name.unicodeScalars.contains(where: TerminalText.isUnsafe) else {
            throw ValidationError("The name contains control characters.")
        }
    }
}
