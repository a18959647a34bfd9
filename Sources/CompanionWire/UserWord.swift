/// A word by which the user means something that has an id and a name: it is the one or the other, or begins it.
///
/// Whole names are compared as people see them, because a Mac spells `é` otherwise than a keyboard does: two that look
/// the same are ambiguous. All else is compared byte by byte.
package struct UserWord: Sendable {
    private let word: String
    private let lowered: String

    package init(_ word: String) {
        (self.word, lowered) = (word, word.lowercased())
    }

    /// Whether an id has the same bytes as the word.
    package func isID(_ id: String) -> Bool { id.isSame(as: word) }

    /// Whether an id begins with it. Fewer than four bytes mean no id.
    package func begins(id: String) -> Bool { word.utf8.count >= 4 && id.begins(with: word) }

    /// Whether a name is the word, regardless of case.
    package func isName(_ name: String) -> Bool { name.lowercased() == lowered }

    /// Whether a name begins with the word, regardless of case. No name begins with an empty word.
    package func begins(name: String) -> Bool { !word.isEmpty && name.lowercased().begins(with: lowered) }

    /// The items that it means: those with this id; else with this name; else those whose id begins so; else those
    /// whose name does.
    ///
    /// - Parameter otherNames: Names that are not displayed; used if no displayed name matches as well. Default: none.
    package func choose<Item>(
        among items: [Item],
        ids: @escaping (Item) -> [String],
        names: @escaping (Item) -> [String],
        otherNames: @escaping (Item) -> [String] = { _ in [] }
    ) -> [Item] {
        let rules: [(Item) -> Bool] = [
            { ids($0).contains(where: isID) },
            { names($0).contains(where: isName) },
            { otherNames($0).contains(where: isName) },
            { ids($0).contains(where: begins(id:)) },
            { names($0).contains(where: begins(name:)) },
            { otherNames($0).contains(where: begins(name:)) },
        ]
        for rule in rules {
            let found = items.filter(rule)
            if !found.isEmpty { return found }
        }
        return []
    }
}
