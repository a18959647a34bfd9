package import FoundationEssentials

extension CompanionJSON {
    /// Decodes the JSON of a peer: what is no Unicode in it becomes U+FFFD first (``repaired(_:)-(Data)``).
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
