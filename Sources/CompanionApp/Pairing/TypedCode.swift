package import FoundationEssentials

/// Digits that a person reads off the host's screen and types.
package enum TypedCode {
    /// The longest time, in seconds, that someone takes to type digits after reading them.
    private static let typing = 20.0

    /// The earliest time at which digits were probably read.
    ///
    /// - Parameters:
    ///   - asked: When the user was asked for them.
    ///   - typed: When they were complete.
    package static func readAt(asked: Date, typed: Date) -> Date {
        max(asked, typed.addingTimeInterval(-typing))
    }
}
