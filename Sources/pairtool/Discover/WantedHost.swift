import ArgumentParser
import CompanionApp
import CompanionWire

/// The value of `discover --host`: an address or a host's name.
enum WantedHost: Sendable, Hashable {
    case place(HostAddress)
    case name(String)

    /// - Throws: `ValidationError` for a text that is neither.
    init(commandLine text: String) throws {
        if let place = HostAddress(text) {
            self = .place(place)
            return
        }
        guard !text.trimmingWhitespace().isEmpty, !text.unicodeScalars.contains("/") else {
            throw ValidationError("“\(TerminalText.line(text))” is neither an address nor the name of a host.")
        }
        self = .name(text.trimmingWhitespace())
    }
}
