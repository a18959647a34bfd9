import ArgumentParser
import CompanionWire

/// A positive number of seconds on the command line.
struct Seconds {
    private static let range = 0.001...86_400

    var duration: Duration

    init(_ seconds: Int) {
        duration = .seconds(seconds)
    }

    /// - Throws: `ValidationError` that explains what is valid.
    init(commandLine text: String) throws {
        let number = text.dropping(suffix: "s").map(String.init) ?? text
        guard let seconds = Double(number), Self.range.contains(seconds) else {
            throw ValidationError("Give a number of seconds from 0.001 to 86400 (a day).")
        }
        duration = .milliseconds(Int64((seconds * 1000).rounded(.up)))
    }
}
