package import FoundationEssentials
import Glibc

/// Times as people read them, in the time zone of this machine.
package enum LocalTime {
    /// The date and the time of day, such as `2026-11-27 14:03:22`.
    package static func text(_ date: Date) -> String { "\(day(date)) \(clock(date))" }

    /// The date, such as `2026-11-27`.
    package static func day(_ date: Date) -> String {
        let parts = parts(date)
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    }

    /// The time of day, such as `14:03:22`.
    package static func clock(_ date: Date) -> String {
        let parts = parts(date)
        return "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }

    private static func parts(_ date: Date) -> tm {
        tzset()
        var (seconds, parts) = (time_t(date.timeIntervalSince1970.rounded(.down)), tm())
        localtime_r(&seconds, &parts)
        return parts
    }

    private static func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + "\(number)" }
}
