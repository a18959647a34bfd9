/// When what frames show is believed: when two of them show the same.
///
/// A code that is held to a camera is lost in some frames, so frames without one are passed over, up to a second's
/// worth. Another code in between, as when a host renews its own, begins anew.
package struct FrameAgreement: Sendable {
    /// The result for the frames so far.
    package enum Verdict: Sendable, Hashable {
        /// Nothing that is wanted was seen lately.
        case nothing
        /// It was seen once.
        case seen
        case agreed
    }

    /// Frames without a code after which one that was seen before does not count any more.
    package static let patience = 30

    private var candidate: Set<[UInt8]> = []
    private var lost = 0

    init() {}

    /// Takes the next frame.
    ///
    /// - Parameter payloads: The payloads in it that are wanted.
    package mutating func saw(_ payloads: Set<[UInt8]>) -> Verdict {
        guard !payloads.isEmpty else {
            lost += 1
            if lost > Self.patience { candidate = [] }
            return candidate.isEmpty ? .nothing : .seen
        }
        lost = 0
        guard payloads != candidate else { return .agreed }
        candidate = payloads
        return .seen
    }
}
