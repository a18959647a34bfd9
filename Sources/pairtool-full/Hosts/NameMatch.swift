import CommandCore

/// Finds the one thing that a word on the command line names.
enum NameMatch {
    /// Whole ids and names come first, then prefixes of ids (four characters or more), then of names; upper and lower
    /// case of names are alike.
    ///
    /// - Parameters:
    ///   - kind: What is looked for, such as `project`.
    ///   - listing: The command that lists what there is.
    static func find<Item>(
        _ word: String,
        in items: [Item],
        kind: String,
        listing: String,
        id: @escaping (Item) -> String,
        names: @escaping (Item) -> [String]
    ) throws -> Item {
        let lowered = word.lowercased()
        let rules: [(Item) -> Bool] = [
            { id($0) == word },
            { names($0).contains { $0.lowercased() == lowered } },
            { word.count >= 4 && id($0).hasPrefix(word) },
            { !word.isEmpty && names($0).contains { $0.lowercased().hasPrefix(lowered) } },
        ]
        for rule in rules {
            let found = items.filter(rule)
            guard let first = found.first else { continue }
            guard found.count > 1 else { return first }
            let choices = found.prefix(5).map { "\(names($0).first ?? "") (\(id($0)))" }.joined(separator: ", ")
            throw CommandError(.usage, "\(kind).ambiguous", "“\(word)” could be any of: \(choices)", next: listing)
        }
        throw CommandError(.nothingFound, "\(kind).unknown", "the host has no \(kind) “\(word)”", next: listing)
    }
}
