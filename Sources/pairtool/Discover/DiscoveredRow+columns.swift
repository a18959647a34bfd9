import CompanionWire

extension DiscoveredRow {
    /// What `discover` shows of them.
    ///
    /// - Parameter probe: Whether they were asked how they are.
    static func columns(_ rows: [DiscoveredRow], probe: Bool) -> [TableColumn<DiscoveredRow>] {
        var columns: [TableColumn<DiscoveredRow>] = [
            TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
            TableColumn("FAMILY", rank: 5) { $0.family.displayName },
            TableColumn("PAIRED", rank: 2) { $0.conflicting ? "conflict" : $0.paired ? "yes" : "no" },
            TableColumn("TRUST", rank: 4) { $0.trust?.rawValue ?? "–" },
            TableColumn("ID", rank: 0) { String($0.id.prefix(8)) },
        ]
        if rows.contains(where: { !$0.marks.isEmpty }) { columns.append(TableColumn("MARKS") { $0.markText }) }
        if probe { columns.append(TableColumn("HEALTH", shrinks: true) { $0.probe?.text ?? "–" }) }
        columns.append(TableColumn("ADDRESSES", .words, rank: 3) { $0.addressText })
        return columns
    }
}
