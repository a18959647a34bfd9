/// The calendar of RFC 3339 and HTTP, without time zones.
enum GregorianCalendar {
    /// Days since 1 January 1970, negative before; nil for a day that the month does not have.
    static func daysSince1970(year: Int, month: Int, day: Int) -> Int? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), (1...lengths[month - 1]).contains(day), year >= 1 else { return nil }
        let before = year - 1
        let days = before * 365 + before / 4 - before / 100 + before / 400
        return days + lengths[..<(month - 1)].reduce(0, +) + day - 1 - 719_162
    }
}
