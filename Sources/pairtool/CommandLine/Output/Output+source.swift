import CompanionApp
import FoundationEssentials
import Terminal

extension Output {
    /// Writes a list in the requested format.
    ///
    /// - Parameter source: Who told the items: rows in JSON say so.
    func list<Item: Encodable>(
        _ items: [Item],
        columns: [TableColumn<Item>],
        from source: AnswerSource,
        id: (Item) -> String
    ) {
        guard format == .json, source != .host else { return list(items, columns: columns, id: id) }
        jsonLines(items.map { SourcedRow(row: $0, source: source) })
    }

    /// Writes a JSON object on a line of its own, which says who told it.
    func json(_ value: some Encodable, from source: AnswerSource) {
        json(SourcedRow(row: value, source: source))
    }
}

/// A row of data, and who told it.
private struct SourcedRow<Row: Encodable>: Encodable {
    var row: Row
    var source: AnswerSource

    func encode(to encoder: any Encoder) throws {
        try row.encode(to: encoder)
        try source.encode(to: encoder)
    }
}

extension AnswerSource: Encodable {
    private enum CodingKeys: String, CodingKey {
        case source, asOf
    }

    /// Nothing for the host itself; else that it did not answer, and the time since when this is known.
    package func encode(to encoder: any Encoder) throws {
        guard case .history(let asOf) = self else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("cache", forKey: .source)
        try container.encodeIfPresent(asOf, forKey: .asOf)
    }
}
