import CompanionWire
import Terminal

extension TableColumn {
    /// The column of the modes of agents; none where no row has one.
    static func mode(_ rows: [Item], rank: Int = 1, _ mode: @escaping (Item) -> AgentMode?) -> [TableColumn] {
        guard rows.contains(where: { mode($0) != nil }) else { return [] }
        return [TableColumn("MODE", shrinks: true, rank: rank) { mode($0)?.name ?? "–" }]
    }
}
