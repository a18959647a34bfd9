package import FoundationEssentials

/// When a host starts challenges by itself. A request from this machine starts one at any time.
package enum ChallengePolicy: Sendable, Hashable {
    /// Whenever none runs.
    case always
    /// As long as no device is paired: for a host whose owner sees the screen.
    case untilPaired
    /// Never: for a host without a screen.
    case onDemand

    /// Whether the host starts the next challenge by itself.
    ///
    /// - Parameter devices: Those that are paired. A device whose time is over counts no more.
    package func startsNext(devices: [PairedDevice], now: Date) -> Bool {
        switch self {
        case .always: true
        case .untilPaired: !devices.contains { $0.isActive(at: now) }
        case .onDemand: false
        }
    }
}
