package import FoundationEssentials

/// The time of a `Date` header: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7; the obsolete forms are not
/// read).
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads a time in UTC. Returns nil for any other text. The name of the weekday is not checked.
    package static func date(from text: String) -> Date? {
        let words = text.parts(" ")
        guard
            words.count == 6, words[0].ends(with: ","), words[5] == "GMT",
            let day = number(words[1], in: 1...31),
            let month = months.firstIndex(of: String(words[2])),
            let year = number(words[3], in: 1970...9999)
        else { return nil }
        let time = words[4].parts(":", omittingEmpty: false)
        guard
            time.count == 3,
            let hour = number(time[0], in: 0...23),
            let minute = number(time[1], in: 0...59),
            let second = number(time[2], in: 0...60),
            let days = GregorianCalendar.daysSince1970(year: year, month: month + 1, day: day)
        else { return nil }
        return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3600 + minute * 60 + second))
    }

    private static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int(text) else { return nil }
        return range.contains(value) ? value : nil
    }
}

/// The calendar of RFC 3339 and HTTP, without time zones.
package enum GregorianCalendar {
    /// Days since 1 January 1970, negative before; nil for a day that the month does not have.
    package static func daysSince1970(year: Int, month: Int, day: Int) -> Int? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), (1...lengths[month - 1]).contains(day), year >= 1 else { return nil }
        let before = year - 1
        let days = before * 365 + before / 4 - before / 100 + before / 400
        return days + lengths[..<(month - 1)].reduce(0, +) + day - 1 - 719_162
    }
}
