import CompanionWire
package import FoundationEssentials

/// Reads the daemon's times: ISO 8601 with any number of fraction digits, with `Z`, an offset (`+02:00`, `+0200`,
/// `+02`) or nothing, which means UTC.
package enum JarvisTimestamp {
    /// Nil for text that is no such time, or none of the calendar.
    package static func date(from text: String) -> Date? {
        var reader = Reader(rest: text.utf8[...])
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T") || reader.take("t") || reader.take(" "),
            let hour = reader.number(2), reader.take(":"), let minute = reader.number(2)
        else { return nil }
        var second = 0
        var fraction = 0.0
        if reader.take(":") {
            guard let whole = reader.number(2) else { return nil }
            second = whole
            if reader.take(".") || reader.take(",") {
                guard let part = reader.fraction() else { return nil }
                fraction = part
            }
        }
        guard let offset = reader.offset(), reader.rest.isEmpty, hour < 24, minute < 60, second < 61,
            let days = GregorianCalendar.daysSince1970(year: year, month: month, day: day)
        else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Date(timeIntervalSince1970: Double(seconds) + fraction)
    }

    private struct Reader {
        var rest: Substring.UTF8View

        mutating func take(_ byte: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: byte) else { return false }
            rest.removeFirst()
            return true
        }

        mutating func digit() -> Int? {
            guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            rest.removeFirst()
            return Int(byte - UInt8(ascii: "0"))
        }

        mutating func number(_ digits: Int) -> Int? {
            var value = 0
            for _ in 0..<digits {
                guard let digit = digit() else { return nil }
                value = value * 10 + digit
            }
            return value
        }

        /// Reads the digits after the point as a fraction of a second; nil if there is no digit.
        mutating func fraction() -> Double? {
            guard let first = digit() else { return nil }
            var (value, unit) = (Double(first) / 10, 0.01)
            while let digit = digit() {
                value += Double(digit) * unit
                unit /= 10
            }
            return value
        }

        /// Seconds east of UTC.
        mutating func offset() -> Int? {
            if rest.isEmpty || take("Z") || take("z") { return 0 }
            let isWest = take("-")
            guard isWest || take("+"), let hours = number(2) else { return nil }
            var minutes = 0
            if take(":") || !rest.isEmpty {
                guard let number = number(2) else { return nil }
                minutes = number
            }
            guard hours < 24, minutes < 60 else { return nil }
            return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
        }
    }
}
