import CompanionWire
import NIOConcurrencyHelpers

/// What was left out of a host's lists because it could not be read: counted, so that it can be said.
package struct LeftOutItems: Sendable {
    /// A list that hosts give.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case projects, chats, messages, devices, models
    }

    /// Each by its place in its list: a list that is read again counts once.
    private let places = NIOLockedValueBox<[Kind: Set<String>]>([:])

    /// A host that sends nothing readable does not fill the memory.
    private static let most = 100_000

    init() {}

    /// How many of each kind there were; none are not in it.
    package var counts: [Kind: Int] {
        places.withLockedValue { $0.mapValues(\.count) }
    }

    /// Notes what a list lacks, and gives the rest of it.
    ///
    /// - Parameters:
    ///   - start: The number of the list's first element, where it is a part of a longer one. Default: 0.
    ///   - owner: What the list is of, such as a project's id. Default: the host.
    func elements<Item>(of list: LossyArray<Item>, _ kind: Kind, from start: Int = 0, of owner: String = "") -> [Item] {
        guard list.dropped > 0 else { return list.elements }
        places.withLockedValue { places in
            for index in list.droppedIndices where places[kind, default: []].count < Self.most {
                places[kind, default: []].insert("\(owner) \(start + index)")
            }
        }
        return list.elements
    }
}
