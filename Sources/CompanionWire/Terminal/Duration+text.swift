extension Duration {
    /// The two largest units, such as `2 d 3 h` or `4 min 5 s`, whatever its sign.
    package var span: String {
        let total = Int((self / .seconds(1)).magnitude.rounded())
        let units = [("d", total / 86_400), ("h", total / 3600 % 24), ("min", total / 60 % 60), ("s", total % 60)]
        let parts = units.drop { $0.1 == 0 }.prefix(2).filter { $0.1 > 0 }
        return parts.isEmpty ? "0 s" : parts.map { "\($0.1) \($0.0)" }.joined(separator: " ")
    }

    /// `40 s`, `5 min`, `3 h`, `2 days`.
    package var roughly: String {
        switch components.seconds {
        case ..<90: "\(components.seconds) s"
        case ..<(90 * 60): "\((components.seconds + 30) / 60) min"
        case ..<(36 * 3600): "\((components.seconds + 1800) / 3600) h"
        default: "\((components.seconds + 43_200) / 86_400) days"
        }
    }
}
