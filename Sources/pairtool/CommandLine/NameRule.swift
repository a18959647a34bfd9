import ArgumentParser
import CompanionWire
import Glibc

/// The rule for names that the user gives to a device or host.
enum NameRule {
    /// The most characters.
    static let longest = 64

    /// - Throws: `ValidationError` for a name that is empty, too long, or contains control characters.
    static func check(_ name: String) throws {
        guard !name.trimmingWhitespace().isEmpty else { throw ValidationError("The name is empty.") }
        guard name.count <= longest else { throw ValidationError("The name is longer than \(longest) characters.") }
        guard !name.unicodeScalars.contains(where: TerminalText.isUnsafe) else {
            throw ValidationError("The name contains control characters.")
        }
    }
}

/// The name of this machine.
enum MachineName {
    /// The host name without its domain.
    static var current: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "Linux workstation" }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let label = name.prefix { $0 != "." }
        return label.isEmpty ? "Linux workstation" : String(label)
    }
}
