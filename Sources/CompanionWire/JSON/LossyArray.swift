/// An array whose elements are decoded one by one: an element that does not decode is counted and left out,
/// and the others stay.
package struct LossyArray<Element: Codable & Sendable & Hashable>: Codable, Sendable, Hashable {
    /// The elements that could be decoded, in order.
    package var elements: [Element]
    /// The indices, from 0, that the omitted elements had in the peer's list.
    package var droppedIndices: [Int]

    /// How many elements were left out.
    package var dropped: Int { droppedIndices.count }

    init(_ elements: [Element]) {
        self.elements = elements
        self.droppedIndices = []
    }

    /// Reads an array.
    ///
    /// - Throws: `DecodingError` only if the value is no array.
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var elements: [Element] = []
        var dropped: [Int] = []
        elements.reserveCapacity(container.count ?? 0)
        while !container.isAtEnd {
            do {
                elements.append(try container.decode(Element.self))
            } catch {
                // The container stays where it is when an element fails: step over it with a type that takes all.
                _ = try container.decode(Anything.self)
                dropped.append(container.currentIndex - 1)
            }
        }
        self.elements = elements
        self.droppedIndices = dropped
    }

    /// Writes the elements as a plain array; the omitted ones are not in it.
    package func encode(to encoder: any Encoder) throws {
        try elements.encode(to: encoder)
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }
}
