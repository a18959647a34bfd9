import CompanionWire
import FoundationEssentials
import Identity
import Testing

@Suite struct SignedCommandTests {
    private static let now = Date(timeIntervalSince1970: 1_795_253_400.25)
    private static let payload = CommandPayload.chatSend(
        chatID: "c",
        prompt: "Größe von \"x\" & 🖥?",
        model: nil,
        allowedTools: ["read"]
    )

    private func withKey<R>(_ body: (SecureKeyStore, DeviceIdentity) throws -> R) throws -> R {
        try withTemporaryDirectory { directory in
            let key = SecureKeyStore(directory: directory)
            return try body(key, key.identity())
        }
    }

    private func make(_ key: SecureKeyStore, lifetime: Duration = .seconds(60)) throws -> SignedCommand {
        try SignedCommand.make(
            payload: Self.payload,
            audience: "8899aabbccddeeff",
            key: key,
            now: Self.now,
            lifetime: lifetime
        )
    }

    @Test("A command carries what it was made for, and its signature holds after the way over the wire")
    func command() throws {
        try withKey { key, identity in
            let command = try SignedCommand.parse(make(key, lifetime: .milliseconds(1500)).body)
            #expect(command.deviceId == identity.deviceID)
            #expect(command.audience == "8899aabbccddeeff")
            #expect(command.issuedAt == Self.now)
            #expect(command.expiresAt.timeIntervalSince(command.issuedAt) == 1.5)
            #expect(try CommandPayload(command.payload) == Self.payload)
            #expect(command.isSigned(by: identity))
            let stranger = try withKey { $1 }
            #expect(!command.isSigned(by: stranger))
        }
    }

    @Test("Every command has an id and a nonce of its own")
    func fresh() throws {
        try withKey { key, _ in
            let (one, two) = (try make(key), try make(key))
            #expect(one.commandId != two.commandId)
            #expect(one.nonce != two.nonce)
            #expect(one.signature != two.signature)
        }
    }

    @Test(
        "A command cannot live for longer than a host would take it",
        arguments: [.zero, .seconds(-1), .seconds(301)] as [Duration]
    )
    func lifetime(lifetime: Duration) throws {
        try withKey { key, _ in
            #expect(throws: SignedCommandError.self) { try make(key, lifetime: lifetime) }
            _ = try make(key, lifetime: SignedCommand.maximumLifetime)
        }
    }

    @Test("No bit of a signed command can be changed")
    func bits() throws {
        try withKey { key, identity in
            let body = try make(key).body
            #expect(try SignedCommand.parse(body).isSigned(by: identity))
            var refused = 0
            for bit in 0..<(body.count * 8) {
                var changed = body
                changed[bit / 8] ^= 1 << (bit % 8)
                guard let command = try? SignedCommand.parse(changed), command.isSigned(by: identity) else {
                    refused += 1
                    continue
                }
                Issue.record("bit \(bit): \(String(decoding: changed, as: UTF8.self))")
            }
            #expect(refused == body.count * 8)
        }
    }

    @Test("No bit of a request for a session can be changed")
    func sessionBits() throws {
        try withKey { key, identity in
            let request = try SessionRequest.make(audience: "8899aabbccddeeff", key: key, now: Self.now)
            #expect(try SessionRequest.parse(request.body).isSigned(by: identity))
            #expect(request.issuedAt == Self.now)
            for bit in 0..<(request.body.count * 8) {
                var changed = request.body
                changed[bit / 8] ^= 1 << (bit % 8)
                if let request = try? SessionRequest.parse(changed), request.isSigned(by: identity) {
                    Issue.record("bit \(bit): \(String(decoding: changed, as: UTF8.self))")
                }
            }
        }
    }

    @Test("A signature holds whatever the order, the white space and the escapes that the object is sent with")
    func otherSpelling() throws {
        try withKey { key, identity in
            let command = try make(key)
            let members = try #require(try CanonicalJSON(parsing: command.body).value.object)
            let lines = members.sorted { $0.key > $1.key }.map { name, value in
                "  \"\(name)\" :\t" + String(decoding: value.json, as: UTF8.self).replacing("ö", with: "\\u00F6")
            }
            let spelled = "{\r\n" + lines.joined(separator: ",\n") + "\n}\n"
            let received = try SignedCommand.parse(Array(spelled.utf8))
            #expect(received.isSigned(by: identity))
            #expect(received == command)
        }
    }

    @Test("A member that is added, removed or exchanged breaks the signature")
    func members() throws {
        try withKey { key, identity in
            let members = try #require(try CanonicalJSON(parsing: make(key).body).value.object)
            var changes: [[String: JSONValue]] = [members.merging(["x": .null]) { $1 }]
            changes.append(members.merging(["payload": CommandPayload.sessionCreate(projectID: "p").json]) { $1 })
            let other = try make(key)
            changes.append(members.merging(["signature": .string(other.signature)]) { $1 })
            for change in changes {
                let command = try SignedCommand.parse(JSONValue.object(change).json)
                #expect(!command.isSigned(by: identity))
            }
        }
    }

    @Test("A signature for a command is none for a session, and the other way round")
    func domains() throws {
        try withKey { key, identity in
            let command = try make(key)
            let prefix = Array(SignedCommand.signingPrefix.utf8)
            let other = Array(SessionRequest.signingPrefix.utf8) + command.signedBytes.dropFirst(prefix.count)
            #expect(identity.verifies(command.signatureBytes, of: command.signedBytes))
            #expect(!identity.verifies(command.signatureBytes, of: other))
        }
    }
}
