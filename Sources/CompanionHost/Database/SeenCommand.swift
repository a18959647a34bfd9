import CompanionWire
import FoundationEssentials
import GRDB

/// A command that a device has signed, with its result.
struct SeenCommand: HostRecord {
    var commandId: String
    var digest: Data
    /// The id of the device.
    var device: String
    /// JSON; ``CommandLedger/pending`` for none yet.
    var result: Data
    var expiresAt: Date

    /// Stores the result of a command that was noted before, within a transaction. Nothing happens once the command has
    /// expired and is forgotten.
    static func update(_ id: String, result: CanonicalJSON, in database: Database) throws {
        try filter(key: id).updateAll(database, Column("result").set(to: Data(result.bytes)))
    }
}
