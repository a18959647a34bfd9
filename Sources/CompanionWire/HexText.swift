extension Sequence<UInt8> {
    /// Two lowercase hex digits for each byte.
    package var hexText: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
