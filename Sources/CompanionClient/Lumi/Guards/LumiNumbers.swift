import CompanionWire

/// How loud or bright: 0 to 100 percent.
package struct LumiLevel: Sendable, Hashable {
    let percent: Int

    /// - Throws: ``LumiInputError`` outside of 0…100.
    package init(percent: Int) throws(LumiInputError) {
        guard (0...100).contains(percent) else {
            throw LumiInputError("\(percent) is not between 0 and 100 percent")
        }
        self.percent = percent
    }

    /// Reads `25` or `25%`.
    package init(_ text: String) throws(LumiInputError) {
        let digits = text.dropping(suffix: "%") ?? Substring(text)
        // Only these ten digits: `Int` takes signs as well.
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let percent = Int(digits)
        else {
            throw LumiInputError("a level is a whole number from 0 to 100, such as 25 or 25%")
        }
        try self.init(percent: percent)
    }

    /// `0.25`, whatever the locale.
    package var fraction: String {
        percent == 100 ? "1.0" : "0.\(percent < 10 ? "0" : "")\(percent)"
    }
}

/// A place on the Mac's screen, or a distance, in points.
package struct LumiPoint: Sendable, Hashable {
    /// The range of a coordinate or a distance, in points: more than any arrangement of screens needs.
    package static let range = -100_000...100_000

    let x: Int
    let y: Int

    /// - Throws: ``LumiInputError`` outside of ``range``.
    package init(x: Int, y: Int) throws(LumiInputError) {
        guard Self.range.contains(x), Self.range.contains(y) else {
            throw LumiInputError("(\(x), \(y)) is beyond any screen")
        }
        self.x = x
        self.y = y
    }
}
