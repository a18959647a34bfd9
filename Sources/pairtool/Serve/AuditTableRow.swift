import CompanionWire
import FoundationEssentials

/// A row of the audit log, in JSON.
struct AuditTableRow: Encodable {
    var number: Int
    var at: Date
    var kind: String
    var deviceId: String?
    var detail: JSONValue

    init(_ row: AuditRow) {
        number = row.number
        at = row.at
        kind = row.kind
        deviceId = row.device
        detail = row.detail
    }
}
