import ArgumentParser
import CompanionApp

extension TimeSpan {
    /// Reads a number of seconds.
    ///
    /// - Throws: `ValidationError` that explains what is valid.
    init(inSeconds text: String) throws {
        guard let span = TimeSpan(text, units: ["s"], in: 0.001...86_400) else {
            throw ValidationError("Give a number of seconds from 0.001 to 86400 (a day).")
        }
        self = span
    }

    /// Reads `90s`, `30m`, `12h`, `7d`, or seconds without a unit.
    ///
    /// - Throws: `ValidationError` with the valid forms.
    init(commandLine text: String) throws {
        guard let span = TimeSpan(text, units: ["s", "m", "h", "d"], in: Double.leastNonzeroMagnitude...1e9) else {
            throw ValidationError("Give a time such as 90s, 30m, 12h or 7d.")
        }
        self = span
    }
}
