import CompanionWire
import FoundationEssentials
import GRDB

/// The commands that devices have signed, with their results.
enum SeenCommands {
    /// Stores the result of a command that was noted before, within a transaction. Nothing happens once the command has
    /// expired and is forgotten.
    static func update(_ id: String, result: CanonicalJSON, in database: Database) throws {
        try database.execute(
            sql: "UPDATE seenCommand SET result = ? WHERE commandId = ?",
            arguments: [Data(result.bytes), id]
        )
    }
}
