import ArgumentParser
import CompanionApp

extension TimeSpan {
    /// Reads how long to wait, up to a day.
    ///
    /// - Throws: `ValidationError` with the valid forms.
    init(wait text: String) throws {
        try self.init(commandLine: text, in: 0.001...86_400)
    }

    /// Reads a time, of any length.
    ///
    /// - Throws: `ValidationError` with the valid forms.
    init(commandLine text: String) throws {
        try self.init(commandLine: text, in: Double.leastNonzeroMagnitude...1e9)
    }

    /// Reads a time with its unit.
    ///
    /// - Parameter range: In seconds.
    /// - Throws: `ValidationError` with the valid forms.
    init(commandLine text: String, in range: ClosedRange<Double>) throws {
        guard let span = TimeSpan(text, in: range) else {
            let isBare = !text.isEmpty && text.utf8.allSatisfy { "0123456789.".utf8.contains($0) }
            throw ValidationError(
                isBare
                    ? "“\(text)” has no unit. Write 90s, 30m, 12h or 7d."
                    : "Give a time such as 90s, 30m, 12h or 7d\(Self.limits(range))."
            )
        }
        self = span
    }

    private static func limits(_ range: ClosedRange<Double>) -> String {
        range.upperBound == 86_400 ? ", up to a day" : ""
    }
}
