import CompanionWire
import FoundationEssentials
import Hummingbird
import NIOCore

/// Reads request bodies as deployed hosts do: a field that is missing or of another type counts as absent.
enum HostJSON {
    static let malformed = HostResponseError(.badRequest, "Malformed JSON")

    /// Whether a body is well-formed JSON with an object or an array at the top.
    static func isObjectOrArray(_ body: ByteBuffer) -> Bool {
        let spaces: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
        guard let first = body.readableBytesView.first(where: { !spaces.contains($0) }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return false }
        return (try? JSONDecoder().decode(Anything.self, from: Data(body.readableBytesView))) != nil
    }

    /// Reads a body; nil counts as `{}`.
    static func decode<Body: Decodable>(_ type: Body.Type, from body: ByteBuffer?) throws -> Body {
        let data = body.map { Data($0.readableBytesView) } ?? Data("{}".utf8)
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw malformed
        }
    }

    /// Reads a body of v2, all fields of which have to be of the right type.
    static func decodeStrictly<Body: Decodable>(_ type: Body.Type, from body: ByteBuffer?) throws -> Body {
        guard let body, let value = try? CompanionJSON.decoder().decode(type, from: Data(body.readableBytesView)) else {
            throw HostResponseError(
                .badRequest,
                "The body is not JSON with the fields of this request",
                code: .requestInvalid
            )
        }
        return value
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }
}

/// The body of `POST /companion/pairing/start`.
struct PairingStartBody: Decodable {
    var ttlSeconds: Double?

    private enum CodingKeys: String, CodingKey { case ttlSeconds }

    init(from decoder: any Decoder) throws {
        let fields = try? decoder.container(keyedBy: CodingKeys.self)
        if let number = try? fields?.decodeIfPresent(Double.self, forKey: .ttlSeconds) {
            ttlSeconds = number
        } else if let text = try? fields?.decodeIfPresent(String.self, forKey: .ttlSeconds) {
            ttlSeconds = Self.number(text)
        }
    }

    /// A number in decimal digits, as deployed hosts take it from a text too; nil for any other text.
    private static func number(_ text: String) -> Double? {
        let text = text.trimmingWhitespace()
        let isDecimal = text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        return isDecimal ? Double(text) : nil
    }
}

/// The body of `POST /companion/pairing/complete`.
struct PairingCompleteBody: Decodable {
    var request: PairingCompleteRequest

    private enum CodingKeys: String, CodingKey { case pairingCode, pairingToken, deviceName, devicePublicKey }

    init(from decoder: any Decoder) throws {
        let fields = try? decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? { try? fields?.decodeIfPresent(String.self, forKey: key) }
        request = PairingCompleteRequest(
            pairingCode: text(.pairingCode) ?? "",
            pairingToken: text(.pairingToken),
            deviceName: text(.deviceName) ?? "",
            devicePublicKey: text(.devicePublicKey) ?? ""
        )
    }
}

/// The body of `POST /companion/chats/:id/continue`.
struct ContinueBody: Decodable {
    var prompt: String
    var projectPath: String?
    var model: String?
    /// nil allows all tools. Something that is no list of names allows none.
    var allowedTools: [String]?

    private enum CodingKeys: String, CodingKey { case prompt, projectPath, model, allowedTools }

    init(from decoder: any Decoder) throws {
        let fields = try? decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? { try? fields?.decodeIfPresent(String.self, forKey: key) }
        prompt = text(.prompt) ?? ""
        projectPath = text(.projectPath)
        model = text(.model)
        do {
            allowedTools = try fields?.decodeIfPresent([String].self, forKey: .allowedTools)
        } catch {
            allowedTools = []
        }
    }
}
