import CompanionWire
import PairingAgent

/// Finds the item that the user named on the command line.
package enum NameMatch {
    /// A suggestion to append to a message about an unknown name: the name that was probably meant.
    package static func suggestion(_ word: String, in names: [String]) -> String {
        NearestWord.of(word, in: names).map { "; did you mean “\($0)”?" } ?? ""
    }

    /// The one item that a word means (`UserWord`).
    ///
    /// - Parameters:
    ///   - kind: The kind of item, such as `project`.
    ///   - called: The kind's name in messages. Default: `kind` itself.
    ///   - listing: The command that lists the items.
    ///   - ids: All ids of an item; the first one is displayed.
    ///   - names: The displayed names.
    ///   - otherNames: Names that are not displayed. Default: none.
    ///   - place: The text after the id of an item where several match, such as its host. Default: nothing.
    ///   - nobody: The beginning of the message about an unknown name. Default: `the host has no`.
    package static func find<Item>(
        _ word: String,
        in items: [Item],
        kind: String,
        called: String? = nil,
        listing: String,
        ids: @escaping (Item) -> [String],
        names: @escaping (Item) -> [String],
        otherNames: @escaping (Item) -> [String] = { _ in [] },
        place: (Item) -> String = { _ in "" },
        nobody: String = "the host has no"
    ) throws -> Item {
        let found = UserWord(word).choose(among: items, ids: ids, names: names, otherNames: otherNames)
        if let only = found.first, found.count == 1 { return only }
        guard found.isEmpty else {
            let choices = found.prefix(5).map { item in
                (names(item).first.map { "\($0) " } ?? "") + "(\(ids(item).first ?? "")\(place(item)))"
            }
            let message = "“\(word)” matches several: \(choices.joined(separator: ", "))"
            throw AppError(.usage, "\(kind).ambiguous", message, next: listing)
        }
        throw AppError(
            .nothingFound,
            "\(kind).unknown",
            "\(nobody) \(called ?? kind) “\(word)”" + suggestion(word, in: items.flatMap { names($0) + ids($0) }),
            next: listing
        )
    }
}
