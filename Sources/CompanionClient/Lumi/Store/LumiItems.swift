import CompanionWire
package import FoundationEssentials

/// The content of a list file: `{"items":[…],"updatedAt":Double}`, or a bare array on older Macs.
package struct LumiItems<Item: Codable & Sendable & Hashable>: Decodable, Sendable, Hashable {
    package var items: [Item]
    /// How many items could not be read, and were left out.
    package var dropped: Int
    /// When the Mac changed the list last; nil on older Macs.
    package var updatedAt: Date?

    init(_ items: [Item] = [], dropped: Int = 0, updatedAt: Date? = nil) {
        self.items = items
        self.dropped = dropped
        self.updatedAt = updatedAt
    }

    package init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: CodingKeys.self) {
            let list = try container.decode(LossyArray<Item>.self, forKey: .items)
            self.init(list.elements, dropped: list.dropped, updatedAt: container.lumiDate(.updatedAt))
        } else {
            let list = try LossyArray<Item>(from: decoder)
            self.init(list.elements, dropped: list.dropped)
        }
    }

    private enum CodingKeys: String, CodingKey {
        case items, updatedAt
    }
}

extension KeyedDecodingContainer {
    /// A time: seconds since 2001-01-01 UTC. Nil where there is none, or one outside of 1970…2200, which no clock gave.
    func lumiDate(_ key: Key) -> Date? {
        guard let seconds = try? decodeIfPresent(Double.self, forKey: key) else { return nil }
        guard (-978_307_200...6_279_811_200).contains(seconds) else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// A value that may be missing or of another type: nil then.
    func lenient<Value: Decodable>(_ key: Key, as: Value.Type = Value.self) -> Value? {
        (try? decodeIfPresent(Value.self, forKey: key)) ?? nil
    }
}

/// The coders of the files: times are seconds since 2001-01-01 UTC, `Data` is base64.
package enum LumiJSON {
    package static func decoder() -> JSONDecoder { JSONDecoder() }

    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return encoder
    }
}
