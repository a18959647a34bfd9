import CompanionWire
import FoundationEssentials
import GRDB

/// How many guesses at six digits are left over all challenges, restarts and addresses (companion-v2, Guess budget).
///
/// Tokens are not counted: nobody guesses 128 bits, and a lock would let anyone keep everyone else from pairing.
struct PairingBudget: Sendable, Hashable {
    /// Failures in a row that lock the digits.
    static let failureLimit = 10

    private(set) var failuresInARow = 0
    private(set) var isLocked = false

    init() {}

    /// Reads the stored budget.
    init(_ database: Database) throws {
        guard let row = try Table("pairingGuard").fetchOne(database) else { return }
        failuresInARow = row["failuresInARow"]
        isLocked = row["locked"]
    }

    /// Guesses that may still be judged before the digits lock.
    var left: Int { isLocked ? 0 : max(Self.failureLimit - failuresInARow, 0) }

    /// - Returns: Whether the digits have just been locked.
    mutating func fail() -> Bool {
        guard !isLocked else { return false }
        failuresInARow += 1
        isLocked = failuresInARow >= Self.failureLimit
        return isLocked
    }

    mutating func reset() {
        self = PairingBudget()
    }

    /// Counts a guess in the database as a failure, before it is judged: a guess that cannot be counted is not judged.
    /// The count in the database is increased, whatever this process last read.
    static func storeGuess(in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE pairingGuard SET failuresInARow = failuresInARow + 1,
                    locked = locked OR failuresInARow + 1 >= \(failureLimit)
                """
        )
    }

    /// Takes back a count: there was nothing to judge.
    static func storeNoGuess(in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE pairingGuard SET failuresInARow = max(failuresInARow - 1, 0),
                    locked = failuresInARow - 1 >= \(failureLimit)
                """
        )
    }

    /// Forgets the failures, after a success or at the owner's request.
    static func storeReset(in database: Database) throws {
        try database.execute(sql: "UPDATE pairingGuard SET failuresInARow = 0, locked = 0")
    }
}
