import CompanionWire
package import FoundationEssentials

/// A command as it goes over the wire. All three keys are required, and all values are strings: real Macs drop what is
/// not so without an answer (lumi, Command).
struct LumiCommand: Encodable, Sendable {
    var id = UUID()
    var commandType: String
    var parameters: [String: String]
}

/// A host's answer to a command.
package struct LumiAnswer: Sendable, Hashable {
    /// Nil where the host's text is no UUID: such an answer belongs to nothing.
    package var id: UUID?
    package var success: Bool
    /// The host's text: sanitise it before it reaches a terminal.
    package var result: String
    /// Why it failed; the host's text.
    package var error: String?
    /// The bytes of `imageData`: a picture, or a file.
    package var data: [UInt8]?
}

extension LumiAnswer: Decodable {
    private enum CodingKeys: String, CodingKey {
        case id, success, result, error, imageData
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // In either case: Macs write the id in upper case.
        id = UUID(uuidString: try container.decode(String.self, forKey: .id))
        success = try container.decode(Bool.self, forKey: .success)
        result = try container.decode(String.self, forKey: .result)
        error = try container.decodeIfPresent(String.self, forKey: .error)
        guard let text = try container.decodeIfPresent(String.self, forKey: .imageData) else { return }
        guard let bytes = Base64.decode(text) else {
            throw DecodingError.dataCorruptedError(forKey: .imageData, in: container, debugDescription: "no base64")
        }
        data = bytes
    }
}

/// The generations of Lumi hosts, by their answer to the first `ping` (lumi, Approval).
package enum LumiGeneration: Int, Sendable, Hashable, Codable {
    /// Takes anybody, or has accepted the connection by itself.
    case open = 1
    /// Wants six digits that the Mac shows.
    case code = 2
    /// Wants the Mac's user to accept each connection.
    case approval = 3
}
