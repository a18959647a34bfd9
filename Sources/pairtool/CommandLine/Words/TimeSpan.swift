import ArgumentParser
import CompanionWire

/// A time that users write as a number and a unit.
struct TimeSpan: Sendable {
    private static let units: [Unicode.Scalar: Double] = [
        "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400,
    ]

    var seconds: Double

    var duration: Duration { .milliseconds(Int64((seconds * 1000).rounded(.up))) }

    init(seconds: Double) {
        self.seconds = seconds
    }

    /// - Parameters:
    ///   - units: The letters that may end it. A number without a letter is one of seconds, if those are among them.
    ///   - range: In seconds.
    private init?(_ text: String, units: Set<Unicode.Scalar>, in range: ClosedRange<Double>) {
        let unit = text.unicodeScalars.last.flatMap { units.contains($0) ? Self.units[$0] : nil }
        let digits = unit == nil ? text : String(text.unicodeScalars.dropLast()).trimmingWhitespace()
        guard digits.utf8.allSatisfy({ "0123456789.".utf8.contains($0) }),
            let factor = unit ?? (units.isSuperset(of: ["s"]) ? 1 : nil), let number = Double(digits),
            range.contains(number * factor)
        else { return nil }
        seconds = number * factor
    }

    /// Reads a number of seconds.
    ///
    /// - Throws: `ValidationError` that explains what is valid.
    init(inSeconds text: String) throws {
        guard let span = Self(text, units: ["s"], in: 0.001...86_400) else {
            throw ValidationError("Give a number of seconds from 0.001 to 86400 (a day).")
        }
        self = span
    }

    /// Reads `90s`, `30m`, `12h`, `7d`, or seconds without a unit.
    ///
    /// - Throws: `ValidationError` with the valid forms.
    init(commandLine text: String) throws {
        guard let span = Self(text, units: ["s", "m", "h", "d"], in: Double.leastNonzeroMagnitude...1e9) else {
            throw ValidationError("Give a time such as 90s, 30m, 12h or 7d.")
        }
        self = span
    }

    /// Reads how old something is: `12h`, `90d`, `2w` or `1y`.
    init?(age text: String) {
        self.init(text, units: ["h", "d", "w", "y"], in: 3600...100_000 * 365 * 86_400)
    }
}
