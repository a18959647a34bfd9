import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import Subprocess
import Testing

/// A real host and a client that shares no line with it: `Tests/Interop/companion_v2.py` has the key and signs.
@Suite("A client of another make", .timeLimit(.minutes(15)))
struct ForeignClientTests {
    /// Somebody who signs with the key of a seed.
    private struct Signer {
        private static let script =
            "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Interop/companion_v2.py"

        let seed = SecureRandom.bytes(32)

        func sign(_ kind: String, _ members: JSONValue) async throws -> (publicKey: String, body: [UInt8]) {
            let seed = seed.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let request: JSONValue = ["kind": .string(kind), "members": members, "seed": .string(seed)]
            let outcome = try await Subprocess.run(
                .name("sh"),
                arguments: ["-c", "exec /usr/bin/python3 \"$0\" sign", Self.script],
                input: .string(String(decoding: request.json, as: UTF8.self)),
                output: .string(limit: 1 << 20),
                error: .string(limit: 1 << 20)
            )
            guard outcome.terminationStatus.isSuccess else {
                throw TestFailure("companion_v2.py (scripts/setup test installs its needs): \(outcome.standardError)")
            }
            let answer = try CanonicalJSON(parsing: Array(outcome.standardOutput.utf8))
            guard let key = answer["publicKey"]?.string, let body = answer["body"]?.string else {
                throw TestFailure("no signature")
            }
            return (key, Array(body.utf8))
        }
    }

    private static func members(_ audience: String, lifetime: TimeInterval, _ more: [String: JSONValue]) -> JSONValue {
        let now = Date()
        var members: [String: JSONValue] = [
            "issuedAt": .string(CompanionTimestamp.string(from: now)), "audience": .string(audience),
            "nonce": .string(Base64URL.encode(SecureRandom.bytes(16))),
        ]
        for (name, value) in more { members[name] = value }
        if lifetime > 0 {
            members["expiresAt"] = .string(CompanionTimestamp.string(from: now.addingTimeInterval(lifetime)))
        }
        return .object(members)
    }

    @Test("A host takes the sessions and commands that it signs, and what they make is there")
    func command() async throws {
        try await withHostAndDevice { host, device in
            let signer = Signer()
            let key = try await signer.sign("session", [:]).publicKey
            device.foreignKey = key
            let paired = try await device.pair()
            #expect(paired.connectedDevice.id == DeviceIdentity.deviceID(publicKeyText: key))

            let hostID = try await device.hostID()
            let request = try await signer.sign("session", Self.members(hostID, lifetime: 0, [:])).body
            device.token = nil
            let opened = try await device.send("POST", "/companion/session", body: request)
            #expect(opened.status == 200, "\(opened.body)")
            device.token = try opened.decoded(SessionGrant.self).token

            let project = try await device.firstProject()
            let title = "\u{20ac} \"Grüße\" 🖥\u{fb33}"
            let payload: JSONValue = [
                "type": "chat.create", "projectId": .string(project), "title": .string(title), "\u{1f600}": [1, [:]],
            ]
            let id = JSONValue.string(UUID().uuidString.lowercased())
            let members = Self.members(hostID, lifetime: 60, ["commandId": id, "payload": payload])
            let body = try await signer.sign("command", members).body
            let text = String(decoding: body, as: UTF8.self)
            let changed = try await device.send(
                "POST",
                "/companion/command",
                body: Array(text.replacing("\\ufb33", with: "\\ufb34").utf8)
            )
            let forged = try await device.send(
                "POST",
                "/companion/command",
                body: try await Signer().sign("command", members.adding("deviceId", paired.connectedDevice.id)).body
            )
            let made = try await device.send("POST", "/companion/command", body: body)
            #expect(changed.status == 401 && changed.code == .commandBadSignature)
            #expect(forged.status == 401 && forged.code == .commandBadSignature)
            #expect(made.status == 200, "\(made.body)")
            let chat: CompanionChat = try made.result()
            let chats = try await device.get("/companion/projects/\(project)/chats")
                .decoded(CompanionChatsResponse.self).chats.elements
            #expect(chats.map(\.id) == [chat.id] && chats.map(\.title) == [title])
        }
    }
}

extension JSONValue {
    fileprivate func adding(_ name: String, _ text: String) -> JSONValue {
        guard case .object(var members) = self else { return self }
        members[name] = .string(text)
        return .object(members)
    }
}
