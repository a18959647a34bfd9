/// How much of a symbol may be lost and still be read.
package enum QRErrorCorrection: String, CaseIterable, Sendable, Hashable {
    /// About 7 % of it.
    case low = "L"
    /// About 15 % of it.
    case medium = "M"
    /// About 25 % of it.
    case quartile = "Q"
    /// About 30 % of it.
    case high = "H"
}
