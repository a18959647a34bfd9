import CompanionWire

/// A block of code in Markdown.
package enum CodeFence {
    /// Puts a text in a fence that nothing in it can end.
    ///
    /// - Parameter language: Stands behind the fence. Default: empty.
    package static func around(_ text: String, language: String = "") -> String {
        var (run, longest) = (0, 2)
        for byte in text.utf8 {
            run = byte == UInt8(ascii: "`") ? run + 1 : 0
            longest = max(longest, run)
        }
        let fence = String(repeating: "`", count: longest + 1)
        return "\(fence)\(language)\n\(text)\(text.ends(with: "\n") ? "" : "\n")\(fence)"
    }
}
