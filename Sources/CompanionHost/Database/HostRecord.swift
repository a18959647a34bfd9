import CompanionWire
import FoundationEssentials
import GRDB

/// A row of a table of the host's database. Its times are texts as the protocol writes them; one that cannot be read
/// is the distant past.
protocol HostRecord: Codable, FetchableRecord, PersistableRecord, Sendable {}

extension HostRecord {
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .custom { CompanionTimestamp.string(from: $0) }
    }

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .custom { String.fromDatabaseValue($0).flatMap(CompanionTimestamp.date(from:)) ?? .distantPast }
    }
}
