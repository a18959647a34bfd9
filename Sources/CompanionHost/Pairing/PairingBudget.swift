import CompanionWire
import FoundationEssentials
import GRDB

/// How many guesses are left over all challenges, restarts and addresses (companion-v2, Guess budget).
struct PairingBudget: Sendable, Hashable {
    /// Failures in a row that lock pairing.
    static let failureLimit = 10

    private(set) var failuresInARow = 0
    private(set) var isLocked = false

    init() {}

    /// Reads what is stored.
    init(_ database: Database) throws {
        let row = try Row.fetchOne(database, sql: "SELECT failuresInARow, locked FROM pairingGuard")
        guard let row else { return }
        failuresInARow = row[0]
        isLocked = row[1]
    }

    /// Guesses that may still be judged before pairing locks.
    var left: Int { isLocked ? 0 : max(Self.failureLimit - failuresInARow, 0) }

    /// - Returns: Whether pairing has just been locked.
    mutating func fail() -> Bool {
        guard !isLocked else { return false }
        failuresInARow += 1
        isLocked = failuresInARow >= Self.failureLimit
        return isLocked
    }

    mutating func reset() {
        self = PairingBudget()
    }

    /// Counts a failure in the database. What is there counts, not what this process last saw: the order in which
    /// two failures are stored makes no difference.
    static func storeFailure(in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE pairingGuard SET failuresInARow = failuresInARow + 1,
                    locked = locked OR failuresInARow + 1 >= \(failureLimit)
                """
        )
    }

    /// Forgets the failures, after a success or by somebody at the host.
    static func storeReset(in database: Database) throws {
        try database.execute(sql: "UPDATE pairingGuard SET failuresInARow = 0, locked = 0")
    }
}
