import CompanionWire

/// Finds the item that a word on the command line names.
enum NameMatch {
    /// What to add to a message about a name that does not exist: the name that was probably meant.
    static func suggestion(_ word: String, in names: [String]) -> String {
        NearestWord.of(word, in: names).map { "; did you mean “\($0)”?" } ?? ""
    }

    /// Whole ids and names come first, then prefixes of ids (four characters or more), then of names; upper and lower
    /// case of names are alike.
    ///
    /// - Parameters:
    ///   - kind: What is looked for, such as `project`.
    ///   - listing: The command that lists what there is.
    ///   - ids: All ids of an item, the one that is shown first.
    ///   - names: The names that are shown.
    ///   - otherNames: Names that are not, and count where no shown one fits as well. Default: none.
    static func find<Item>(
        _ word: String,
        in items: [Item],
        kind: String,
        listing: String,
        ids: @escaping (Item) -> [String],
        names: @escaping (Item) -> [String],
        otherNames: @escaping (Item) -> [String] = { _ in [] }
    ) throws -> Item {
        let lowered = word.lowercased()
        let rules: [(Item) -> Bool] = [
            { ids($0).contains(word) },
            { names($0).contains { $0.lowercased() == lowered } },
            { otherNames($0).contains { $0.lowercased() == lowered } },
            { word.count >= 4 && ids($0).contains { $0.begins(with: word) } },
            { !word.isEmpty && names($0).contains { $0.lowercased().begins(with: lowered) } },
            { !word.isEmpty && otherNames($0).contains { $0.lowercased().begins(with: lowered) } },
        ]
        for rule in rules {
            let found = items.filter(rule)
            guard let first = found.first else { continue }
            guard found.count > 1 else { return first }
            let choices = found.prefix(5).map { "\(names($0).first ?? "") (\(ids($0).first ?? ""))" }
                .joined(separator: ", ")
            throw CommandError(.usage, "\(kind).ambiguous", "“\(word)” matches several: \(choices)", next: listing)
        }
        throw CommandError(
            .nothingFound,
            "\(kind).unknown",
            "the host has no \(kind) “\(word)”" + suggestion(word, in: items.flatMap { names($0) + ids($0) }),
            next: listing
        )
    }
}
