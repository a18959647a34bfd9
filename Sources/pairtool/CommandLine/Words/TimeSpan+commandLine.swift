import ArgumentParser
import CompanionApp

extension TimeSpan {
    /// Reads how long to wait, up to a day.
    ///
    /// - Throws: `ValidationError` with the valid forms.
    init(wait text: String) throws {
        try self.init(commandLine: text, in: 0.001...86_400, limits: "up to a day")
    }

    /// Reads a time, of any length.
    ///
    /// - Throws: `ValidationError` with the valid forms.
    init(commandLine text: String) throws {
        try self.init(commandLine: text, in: Double.leastNonzeroMagnitude...1e9, limits: nil)
    }

    /// Reads a time with its unit.
    ///
    /// - Parameters:
    ///   - range: In seconds.
    ///   - limits: The range as users read it; nil for one that nobody reaches.
    /// - Throws: `ValidationError` with the valid forms.
    init(commandLine text: String, in range: ClosedRange<Double>, limits: String?) throws {
        guard let span = TimeSpan(text, in: range) else {
            let isBare = !text.isEmpty && text.utf8.allSatisfy { "0123456789.".utf8.contains($0) }
            throw ValidationError(
                isBare
                    ? "“\(text)” has no unit. Write 90s, 30m, 12h or 7d."
                    : limits.map { "Give a time of \($0), such as 90s." } ?? "Give a time such as 90s, 30m, 12h or 7d."
            )
        }
        self = span
    }
}
