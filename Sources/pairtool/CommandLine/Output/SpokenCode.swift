/// Formats digits so that screen readers speak them clearly.
enum SpokenCode {
    private static let words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

    /// Digits in groups of three: `482 915`. Any other text is returned unchanged.
    static func groups(_ code: String) -> String {
        parts(code)?.joined(separator: " ") ?? code
    }

    /// Digits as words, with a comma between groups: `four eight two, nine one five`.
    static func spoken(_ code: String) -> String {
        guard let parts = parts(code) else { return code }
        return parts.map { $0.compactMap(\.wholeNumberValue).map { words[$0] }.joined(separator: " ") }
            .joined(separator: ", ")
    }

    private static func parts(_ code: String) -> [String]? {
        guard !code.isEmpty, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let digits = Array(code)
        return stride(from: 0, to: digits.count, by: 3).map { String(digits[$0..<min($0 + 3, digits.count)]) }
    }
}
