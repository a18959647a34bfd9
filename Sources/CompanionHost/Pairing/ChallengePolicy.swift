/// When a host starts challenges by itself. A request from this machine starts one at any time.
package enum ChallengePolicy: Sendable, Hashable {
    /// Whenever none runs.
    case always
    /// As long as no device is paired: for a host whose owner sees the screen.
    case untilPaired
    /// Never: for a host without a screen.
    case onDemand
}
