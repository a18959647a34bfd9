/// Puts together characters whose UTF-16 halves came in two text frames.
///
/// Deployed hosts cut answers by UTF-16 units: one frame ends in `\ud83d` and the next begins with `\ude80`. JSON
/// decoders refuse such lone escapes. So they are rewritten before decoding, as markers from the last 2,048 code points
/// of the second private-use plane (U+10F800 + unit - 0xD800), and turned back into characters here.
package struct SurrogateJoiner: Sendable {
    private static let markerBase: UInt32 = 0x10F800

    private var pendingHigh: UInt16?

    init() {}

    /// Rewrites the lone surrogate escapes of a JSON text.
    ///
    /// - Returns: The JSON with markers, or nil where it has no lone escape (the usual case, found in one pass).
    package static func markLoneSurrogates(in json: [UInt8]) -> [UInt8]? {
        LoneSurrogates.replacingEscapes(in: json) { unit in
            Unicode.Scalar(markerBase + UInt32(unit - 0xD800)).map { Array(String(Character($0)).utf8) } ?? []
        }
    }

    /// Turns the text of one frame into what can be shown now; a half at its end waits for the next frame.
    ///
    /// - Parameter isMarked: Whether ``markLoneSurrogates(in:)`` rewrote this frame.
    package mutating func join(_ text: String, isMarked: Bool) -> String {
        guard !text.isEmpty else { return "" }
        guard isMarked || pendingHigh != nil else { return text }
        var units: [UInt16] = pendingHigh.map { [$0] } ?? []
        pendingHigh = nil
        for scalar in text.unicodeScalars {
            if isMarked, scalar.value >= Self.markerBase {
                units.append(UInt16(scalar.value - Self.markerBase) + 0xD800)
            } else {
                units.append(contentsOf: UTF16.encode(scalar).map(Array.init) ?? [])
            }
        }
        if let last = units.last, (0xD800...0xDBFF).contains(last) {
            pendingHigh = last
            units.removeLast()
        }
        // Halves that still stand alone become U+FFFD.
        return String(decoding: units, as: UTF16.self)
    }

    /// The text that a half without a partner leaves when the answer ends: U+FFFD or nothing.
    package mutating func finish() -> String {
        defer { pendingHigh = nil }
        return pendingHigh == nil ? "" : "\u{FFFD}"
    }
}
