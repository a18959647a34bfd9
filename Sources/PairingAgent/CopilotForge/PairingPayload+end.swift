package import CompanionWire
package import FoundationEssentials

extension PairingPayload {
    /// Whether the code is over at a time. Only the host's clock decides; this machine's may be wrong.
    package func hasEnded(at time: Date) -> Bool {
        expiresAt.map { $0 <= time } ?? false
    }

    /// The error for a code that is over by the host's clock; nil if it is not, or does not say when it ends.
    func endError(hostTime: Date) -> PairingError? {
        guard let expiresAt, hasEnded(at: hostTime) else { return nil }
        return PairingError(
            .expired,
            "the code expired at \(LocalTime.text(expiresAt)) (by the host's clock)"
        )
    }
}
