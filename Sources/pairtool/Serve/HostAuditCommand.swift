import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import HostOwner
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
        let rows = try await output.owner.audit()
        guard output.format == .text else {
            return output.list(rows.map(AuditTableRow.init), columns: [], id: { "\($0.number)" })
        }
        for row in rows {
            let device = row.device.map { names[ByteText($0)] ?? $0.shortID }
            let parts = [LocalTime.text(row.at), row.kindText, device, row.detailText].compactMap(\.self)
            let text = TerminalText.line("\(row.number)  \(parts.filter { !$0.isEmpty }.joined(separator: "  "))")
            output.data(output.fitted(text, indent: 4))
        }
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
