import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent
import Terminal

struct HostAuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List pairings, failed pairings, changes and revocations on the running host.",
        discussion: """
            Each row contains a hash of the row before it. --verify checks that no row was changed or removed.

            Examples:
              pairtool host audit
              pairtool host audit --verify
            """
    )

    @Flag(help: "Check that no row was changed or removed. If one was, exit with 1.")
    var verify = false

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        guard !verify else { return try report(try await output.owner.verifyAudit(), on: output) }
        // Devices that are gone have their id only.
        let devices = try await output.owner.devices()
        let names = Dictionary(devices.map { (ByteText($0.id), $0.name) }) { first, _ in first }
        output.list(
            try await output.owner.audit().map(AuditTableRow.init),
            columns: [
                TableColumn("NO", rank: 0) { "\($0.number)" },
                TableColumn("WHEN", rank: 2) { LocalTime.text($0.at) },
                TableColumn("WHAT", rank: 0) { $0.kindText },
                TableColumn("DEVICE", shrinks: true, rank: 1) { row in
                    row.deviceId.map { names[ByteText($0)] ?? $0.shortID } ?? "–"
                },
                TableColumn("DETAIL", shrinks: true, rank: 3) { $0.detailText },
            ],
            id: { "\($0.number)" }
        )
    }

    private func report(_ verdict: AuditVerdict, on output: Output) throws {
        output.result(AuditVerdictRow(verdict), id: nil) {
            verdict.brokenAt.map { "The audit was changed: row \($0) does not match." }
                ?? "The audit is intact: \(verdict.rows) \(verdict.rows == 1 ? "row" : "rows")."
        }
        if !verdict.isIntact {
            throw output.ended(by: AppError(.failed, "host.audit_changed", "the audit was changed"))
        }
    }
}

/// The result of checking the audit log, in JSON.
struct AuditVerdictRow: Encodable {
    var rows: Int
    var intact: Bool
    var brokenAt: Int?

    init(_ verdict: AuditVerdict) {
        rows = verdict.rows
        intact = verdict.isIntact
        brokenAt = verdict.brokenAt
    }
}
