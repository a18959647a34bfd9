internal import FoundationEssentials

/// A signed JSON object: what commands and session requests have in common.
struct SignedEnvelope: Sendable, Hashable {
    /// The object as it was received, with its signature.
    private let object: CanonicalJSON
    /// 64 bytes.
    let signature: [UInt8]
    /// The code of the errors about this envelope.
    private let code: CompanionErrorCode

    init(parsing body: [UInt8], code: CompanionErrorCode) throws(SignedCommandError) {
        let object: CanonicalJSON
        do throws(JSONValueError) {
            object = try CanonicalJSON(parsing: body)
        } catch {
            throw SignedCommandError(code, message: "the body is not the JSON that this protocol signs: \(error)")
        }
        guard object.value.isObject else { throw SignedCommandError(code, message: "the body is not a JSON object") }
        try self.init(object, code: code)
    }

    private init(_ object: CanonicalJSON, code: CompanionErrorCode) throws(SignedCommandError) {
        guard let signature = object["signature"]?.string.flatMap(Base64.decode), signature.count == 64 else {
            throw SignedCommandError(code, message: "`signature` is not the base64 text of 64 bytes")
        }
        self.object = object
        self.signature = signature
        self.code = code
    }

    /// Signs an object that has no signature yet.
    init(
        _ members: [String: JSONValue],
        prefix: String,
        code: CompanionErrorCode,
        sign: ([UInt8]) throws -> [UInt8]
    ) throws {
        let signature = try sign(Array(prefix.utf8) + CanonicalJSON(.object(members)).bytes)
        let signed = members.merging(["signature": .string(Base64.encode(signature))]) { $1 }
        try self.init(CanonicalJSON(.object(signed)), code: code)
    }

    func signedBytes(prefix: String) -> [UInt8] {
        Array(prefix.utf8) + object.removing("signature").bytes
    }

    var body: [UInt8] { object.bytes }

    /// A member of the object; nil if there is none.
    subscript(name: String) -> JSONValue? { object[name] }

    func error(_ name: String, rule: String) -> SignedCommandError {
        SignedCommandError(code, message: "`\(name)` is not \(rule)")
    }

    /// A string of 1 to 128 bytes.
    func text(_ name: String) throws(SignedCommandError) -> String {
        guard let text = self[name]?.string, (1...128).contains(text.utf8.count) else {
            throw error(name, rule: "a text of 1 to 128 bytes")
        }
        return text
    }

    func time(_ name: String) throws(SignedCommandError) -> Date {
        let text = try text(name)
        // Exactly what is written: a text that several readers could take for different times is not taken at all.
        guard let date = CompanionTimestamp.date(from: text), CompanionTimestamp.string(from: date) == text else {
            throw error(name, rule: "a time such as 2026-11-21T09:30:00.000Z")
        }
        return date
    }

    /// base64url of 16 to 64 bytes.
    func nonce(_ name: String) throws(SignedCommandError) -> String {
        let text = try text(name)
        guard let bytes = Base64URL.decode(text), (16...64).contains(bytes.count) else {
            throw error(name, rule: "base64url of 16 to 64 bytes")
        }
        return text
    }
}
