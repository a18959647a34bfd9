import CompanionApp
import CompanionWire
import Identity
import Terminal

extension SightedHost {
    /// The columns of `discover`.
    ///
    /// - Parameter probe: Whether the hosts were probed.
    static func columns(_ rows: [SightedHost], probe: Bool) -> [TableColumn<SightedHost>] {
        var columns: [TableColumn<SightedHost>] = [
            TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
            TableColumn("FAMILY", rank: 5) { $0.programName },
            TableColumn("PAIRED", rank: 2) { $0.conflicting ? "conflict" : $0.paired ? "yes" : "no" },
            TableColumn("TRUST", rank: 4) { $0.trust?.rawValue ?? "–" },
            .id { $0.id },
        ]
        if rows.contains(where: { !$0.marks.isEmpty }) { columns.append(TableColumn("MARKS") { $0.markText }) }
        if probe {
            // It was asked for: in a narrow window others give way, unless a service has a very long name.
            let isLong = rows.contains { DisplayWidth.of($0.probe?.text ?? "") > 40 }
            columns.append(TableColumn("HEALTH", shrinks: isLong, rank: 0) { $0.probe?.text ?? "–" })
        }
        columns.append(TableColumn("ADDRESSES", .words, rank: 3) { $0.addressText })
        return columns
    }
}
