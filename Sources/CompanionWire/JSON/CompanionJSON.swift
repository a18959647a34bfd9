package import FoundationEssentials

/// The JSON coders of the protocol: camelCase keys, times as ``CompanionTimestamp`` writes them.
package enum CompanionJSON {
    /// A decoder that reads the protocol's times.
    package static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = CompanionTimestamp.date(from: text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 time")
            }
            return date
        }
        return decoder
    }

    /// An encoder that writes the protocol's times and leaves `/` alone.
    ///
    /// - Parameter sorted: Whether keys are written in order, for output that is compared or read by people.
    package static func encoder(sorted: Bool = false) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = sorted ? [.withoutEscapingSlashes, .sortedKeys] : [.withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(CompanionTimestamp.string(from: date))
        }
        return encoder
    }
}

extension CompanionJSON {
    /// Decodes the JSON of a peer. Invalid Unicode in it becomes U+FFFD first (``repaired(_:)-(Data)``).
    ///
    /// - Throws: `DecodingError`.
    package static func decode<Value: Decodable>(_ type: Value.Type, fromPeer json: Data) throws -> Value {
        try decoder().decode(type, from: repaired(json))
    }

    /// The JSON of a peer as decoders take it.
    ///
    /// A string with half a character in it would make them refuse the whole element. So lone surrogate escapes and
    /// bytes that are not UTF-8 become U+FFFD. Signed JSON is never repaired: there, such text is refused.
    package static func repaired(_ json: Data) -> Data {
        repair(Array(json)).map { Data($0) } ?? json
    }

    /// The same for bytes.
    package static func repaired(_ json: [UInt8]) -> [UInt8] {
        repair(json) ?? json
    }

    private static func repair(_ json: [UInt8]) -> [UInt8]? {
        let valid = LoneSurrogates.replacingInvalid(in: json)
        return LoneSurrogates.replacingEscapes(in: valid ?? json) ?? valid
    }
}

/// The protocol's times: RFC 3339 in UTC, always with milliseconds when written (`2026-11-21T09:30:00.000Z`),
/// with or without fractions when read.
package enum CompanionTimestamp {
    private static let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let withoutFraction = Date.ISO8601FormatStyle()

    /// Writes a time, rounded to the nearest millisecond.
    package static func string(from date: Date) -> String {
        // A tenth of a millisecond on top keeps binary fractions such as .789 from being cut to .788.
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        return withFraction.format(Date(timeIntervalSince1970: (milliseconds + 0.1) / 1000))
    }

    /// Reads a time. Returns nil for text that is not RFC 3339.
    package static func date(from text: String) -> Date? {
        if let date = try? withFraction.parse(text) { return date }
        return try? withoutFraction.parse(text)
    }
}
