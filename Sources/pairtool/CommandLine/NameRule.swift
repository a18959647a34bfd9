import ArgumentParser
import CompanionWire

/// The rules for names that the user gives.
enum NameRule {
    /// The most characters of a device's or host's name.
    static let longest = 64

    /// Checks the name of a device, host or the like.
    ///
    /// - Throws: `ValidationError` for a name that is empty, too long, or contains control or invisible characters.
    static func check(_ name: String) throws {
        guard !name.trimmingWhitespace().isEmpty else { throw ValidationError("The name is empty.") }
        guard name.count <= longest else { throw ValidationError("The name is longer than \(longest) characters.") }
        guard !TerminalText.isUnsafe(name) else {
            throw ValidationError("The name contains control or invisible characters.")
        }
    }

    /// Checks what was given as `--model`.
    ///
    /// - Throws: `ValidationError` for a name that is empty, too long, or not one line of text.
    static func checkModel(_ name: String) throws {
        guard (1...200).contains(name.utf8.count), name.isSame(as: TerminalText.line(name)),
            !name.trimmingWhitespace().isEmpty
        else { throw ValidationError("--model needs the name of a model, of at most 200 bytes.") }
    }
}
