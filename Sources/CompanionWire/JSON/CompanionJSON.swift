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
