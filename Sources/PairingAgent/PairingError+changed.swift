internal import FoundationEssentials

/// Errors of a code that is not the host's any more.
///
/// Whether the typed digits were the code before cannot be tested: a second proof, over that code, would give someone
/// who takes the host's place two guesses in one pairing instead of one. When the host's code began is no secret.
extension PairingError {
    /// A code as old as this is not the reason why digits are wrong.
    private static let recent: TimeInterval = 60
    private static let advice = "enter the code that the host shows now: pairtool pair"

    /// The host has changed its code since the digits were read; they were not tried.
    static func changedCode(since time: TimeInterval) -> PairingError {
        PairingError(.expired, "the host has shown a new code for \(seconds(time)); nothing was sent", advice: advice)
    }

    /// The same refusal of digits, if the host has changed its code a moment ago: then they probably are the code
    /// before.
    ///
    /// - Parameter time: How long the host has shown its code; nil if it does not say.
    func explained(codeShownFor time: TimeInterval?) -> PairingError {
        guard code == .wrongCode, triesLeft != 0, let time, time < Self.recent else { return self }
        let left = triesLeft.map { $0 == 1 ? " (1 try left)" : " (\($0) tries left)" } ?? ""
        return PairingError(
            .wrongCode,
            "wrong code\(left). The host has shown a new code for \(Self.seconds(time)): enter that one. "
                + "If it fails too, someone may be intercepting the connection",
            triesLeft: triesLeft,
            advice: Self.advice
        )
    }

    private static func seconds(_ time: TimeInterval) -> String {
        let seconds = Int(min(max(time, 1), 3600))
        return seconds == 1 ? "1 second" : "\(seconds) seconds"
    }
}
