import CompanionWire

/// A time that users write as a number and a unit.
package struct TimeSpan: Sendable {
    private static let units: [Unicode.Scalar: Double] = [
        "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400,
    ]

    package var seconds: Double

    /// Rounded up to milliseconds.
    package var duration: Duration { .milliseconds(Int64((seconds * 1000).rounded(.up))) }

    package init(seconds: Double) {
        self.seconds = seconds
    }

    /// Reads a number with a unit; nil for anything else, and out of the range.
    ///
    /// - Parameters:
    ///   - units: The letters that may end it. A number without a letter is one of seconds, if those are among them.
    ///   - range: In seconds.
    package init?(_ text: String, units: Set<Unicode.Scalar>, in range: ClosedRange<Double>) {
        let unit = text.unicodeScalars.last.flatMap { units.contains($0) ? Self.units[$0] : nil }
        let digits = unit == nil ? text : String(text.unicodeScalars.dropLast()).trimmingWhitespace()
        guard digits.utf8.allSatisfy({ "0123456789.".utf8.contains($0) }),
            let factor = unit ?? (units.isSuperset(of: ["s"]) ? 1 : nil), let number = Double(digits),
            range.contains(number * factor)
        else { return nil }
        seconds = number * factor
    }

    /// Reads how old something is: `12h`, `90d`, `2w` or `1y`.
    package init?(age text: String) {
        self.init(text, units: ["h", "d", "w", "y"], in: 3600...100_000 * 365 * 86_400)
    }
}
