import CompanionWire
package import FoundationEssentials
import Glibc

/// Formats times for display.
package enum TimeText {
    /// `just now`, `5 min ago`, `3 h ago`, `12 d ago`, or the date if it is more than 60 days ago.
    package static func ago(_ date: Date?, now: Date) -> String {
        guard let date else { return "–" }
        let seconds = Int(now.timeIntervalSince(date))
        return switch seconds {
        case ..<0: "just now"
        case ..<60: "just now"
        case ..<3600: "\(seconds / 60) min ago"
        case ..<86_400: "\(seconds / 3600) h ago"
        case ..<(60 * 86_400): "\(seconds / 86_400) d ago"
        default: date.formatted(Date.ISO8601FormatStyle().year().month().day())
        }
    }

    /// The time of day here, such as `14:03:22`, with the date if that is not today's.
    package static func clock(_ date: Date, now: Date) -> String {
        tzset()
        func parts(_ date: Date) -> tm {
            var (seconds, parts) = (time_t(date.timeIntervalSince1970.rounded(.down)), tm())
            localtime_r(&seconds, &parts)
            return parts
        }
        func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let (then, today) = (parts(date), parts(now))
        let time = "\(two(then.tm_hour)):\(two(then.tm_min)):\(two(then.tm_sec))"
        guard (then.tm_year, then.tm_yday) != (today.tm_year, today.tm_yday) else { return time }
        return "\(then.tm_year + 1900)-\(two(then.tm_mon + 1))-\(two(then.tm_mday)) \(time)"
    }

    /// The remaining time, such as `4:05`; `0:00` after the end.
    package static func countdown(_ seconds: Double) -> String {
        let left = max(0, Int(seconds.rounded(.up)))
        return "\(left / 60):" + (left % 60 < 10 ? "0" : "") + "\(left % 60)"
    }

    /// The two largest units, such as `2 d 3 h` or `4 min 5 s`.
    package static func span(_ seconds: Double) -> String {
        Duration.seconds(seconds).span
    }
}
