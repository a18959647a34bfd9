import CompanionWire
package import FoundationEssentials

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
        default: LocalTime.day(date)
        }
    }

    /// The time of day here, such as `14:03:22`, with the date if that is not today's.
    package static func clock(_ date: Date, now: Date) -> String {
        let isToday = LocalTime.day(date).isSame(as: LocalTime.day(now))
        return isToday ? LocalTime.clock(date) : LocalTime.text(date)
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
