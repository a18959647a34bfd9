package import FoundationEssentials

/// The protocol's times: RFC 3339 in UTC, always with milliseconds when written (`2026-11-21T09:30:00.000Z`),
/// with or without fractions when read.
package enum CompanionTimestamp {
    private static let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let withoutFraction = Date.ISO8601FormatStyle()

    /// Writes a time, rounded to the nearest millisecond.
    package static func string(from date: Date) -> String {
        // A tenth of a millisecond on top keeps binary fractions such as .789 from being cut to .788.
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        return withFraction.format(Date(timeIntervalSince1970: (milliseconds + 0.1) / 1000))
    }

    /// Reads a time. Returns nil for text that is not RFC 3339.
    package static func date(from text: String) -> Date? {
        if let date = try? withFraction.parse(text) { return date }
        return try? withoutFraction.parse(text)
    }
}
