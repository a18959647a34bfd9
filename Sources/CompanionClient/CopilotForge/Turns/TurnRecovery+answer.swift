import CompanionWire

extension TurnRecovery {
    /// Compares the stored answer with what was shown, and shows the missing part.
    mutating func complete(with stored: String) -> [TurnEvent] {
        guard let missing = Self.missing(from: stored, shown: answer) else {
            replaceAnswer(with: stored)
            let notice = "The stored answer differs from what was shown so far; here is the whole of it."
            return [.recovering(notice), .text(stored)]
        }
        extendAnswer(by: missing)
        return missing.isEmpty ? [] : [.text(missing)]
    }

    /// The part of `stored` after `shown`. Hosts may trim white space from an answer when they store it.
    ///
    /// - Returns: nil if `stored` does not begin with `shown`.
    static func missing(from stored: String, shown: String) -> String? {
        if let rest = rest(of: stored, after: shown) { return rest }
        let isBlank: (Unicode.Scalar) -> Bool = \.properties.isWhitespace
        let start = String(stored.unicodeScalars.drop(while: isBlank))
        let shownStart = String(shown.unicodeScalars.drop(while: isBlank))
        if let rest = rest(of: start, after: shownStart) { return rest }
        return start.trimmingWhitespace().isSame(as: shownStart.trimmingWhitespace()) ? "" : nil
    }

    /// Compares bytes, not characters: the missing part may begin with a combining mark.
    private static func rest(of stored: String, after shown: String) -> String? {
        guard stored.utf8.starts(with: shown.utf8) else { return nil }
        return String(decoding: stored.utf8.dropFirst(shown.utf8.count), as: UTF8.self)
    }
}
