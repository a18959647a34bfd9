/// The beginning of a text that may be too long to keep.
struct CutText: Sendable {
    /// All of the text, or its beginning.
    private(set) var text = ""
    /// Bytes of the text that are not kept.
    private(set) var missing = 0

    init() {}

    /// Keeps the first bytes of a text, up to the end of a character.
    init(_ text: String, atMost size: Int) {
        guard text.utf8.count > size else {
            self.text = text
            return
        }
        var end = text.utf8.index(text.startIndex, offsetBy: size)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        self.text = String(text[..<end])
        missing = text.utf8.count - self.text.utf8.count
    }

    /// A shorter beginning of the same text.
    func cut(to size: Int) -> CutText {
        var shorter = CutText(text, atMost: size)
        shorter.missing += missing
        return shorter
    }

    /// The text, with a line that says how much is missing if it is not whole.
    var marked: String {
        missing == 0 ? text : "\(text)\n… (\(missing) more bytes)"
    }
}
