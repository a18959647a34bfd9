extension Duration {
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
