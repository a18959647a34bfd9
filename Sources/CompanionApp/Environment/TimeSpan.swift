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

    /// Reads a number with a unit, such as `90s`, `30m`, `12h`, `7d`, `2w` or `1y`; nil for anything else, for a number
    /// without a unit, and out of the range.
    ///
    /// - Parameter range: In seconds.
    package init?(_ text: String, in range: ClosedRange<Double>) {
        guard let unit = text.unicodeScalars.last.flatMap({ Self.units[$0] }) else { return nil }
        let digits = String(text.unicodeScalars.dropLast()).trimmingWhitespace()
        guard digits.utf8.allSatisfy({ "0123456789.".utf8.contains($0) }), let number = Double(digits),
            range.contains(number * unit)
        else { return nil }
        seconds = number * unit
    }

    /// Reads how old something is: from an hour on.
    package init?(age text: String) {
        self.init(text, in: 3600...100_000 * 365 * 86_400)
    }
}
