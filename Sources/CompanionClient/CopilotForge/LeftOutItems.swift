import CompanionWire
import NIOConcurrencyHelpers

/// Counts the items of a host's lists that could not be read and were left out, so that the user can be told.
package struct LeftOutItems: Sendable {
    /// A kind of list that hosts return.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case projects, chats, messages, devices, models
    }

    /// The positions of the items in their lists, so that a list that is read twice counts once.
    private let places = NIOLockedValueBox<[Kind: Set<String>]>([:])

    /// Limits the memory if a host sends nothing readable.
    private static let most = 100_000

    init() {}

    /// How many items of each kind were left out. Kinds without such items are absent.
    package var counts: [Kind: Int] {
        places.withLockedValue { $0.mapValues(\.count) }
    }

    /// Records the items that a list lacks, and returns the others.
    ///
    /// - Parameters:
    ///   - start: The index of the list's first element if it is part of a longer list. Default: 0.
    ///   - owner: What the list belongs to, such as a project's id. Default: the host.
    func elements<Item>(of list: LossyArray<Item>, as kind: Kind, from start: Int = 0, of owner: String = "") -> [Item]
    {
        guard list.dropped > 0 else { return list.elements }
        places.withLockedValue { places in
            for index in list.droppedIndices where places[kind, default: []].count < Self.most {
                places[kind, default: []].insert("\(owner) \(start + index)")
            }
        }
        return list.elements
    }
}
