/// Finds what a terminal reports about its window: whether it has the keyboard's focus. Source: xterm's ctlseqs,
/// "FocusIn/FocusOut".
///
/// A paste may contain such bytes too. They decide about notifications alone.
struct FocusReports: Sendable {
    private var matched = 0

    /// - Returns: The last report in the bytes, which may have begun in earlier ones; nil if there is none.
    mutating func take(_ bytes: some Sequence<UInt8>) -> Bool? {
        var last: Bool?
        for byte in bytes {
            switch (matched, byte) {
            case (_, 0x1B): matched = 1
            case (1, UInt8(ascii: "[")): matched = 2
            case (2, UInt8(ascii: "I")), (2, UInt8(ascii: "O")): (matched, last) = (0, byte == UInt8(ascii: "I"))
            default: matched = 0
            }
        }
        return last
    }
}
