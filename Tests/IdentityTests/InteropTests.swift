import CompanionWire
import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

@testable import Identity

/// The protocol, against a second implementation that shares nothing with this one: `Tests/Interop/companion_v2.py`.
@Suite struct InteropTests {
    private static let script =
        "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Interop/companion_v2.py"

    /// Runs the script of the system's Python, for which Debian has the `cryptography` package.
    private func python(_ command: String, _ request: JSONValue) async throws -> JSONValue {
        let outcome = try await Subprocess.run(
            .path("/usr/bin/python3"),
            arguments: [Self.script, command],
            input: .string(String(decoding: request.json, as: UTF8.self)),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        guard case .exited(0) = outcome.terminationStatus else {
            Issue.record("companion_v2.py (scripts/setup test installs what it needs): \(outcome.standardError)")
            return .null
        }
        return try CanonicalJSON(parsing: Array(outcome.standardOutput.utf8)).value
    }

    /// What is written in different ways most easily: escapes, names beyond the BMP, a private-use name behind them.
    private static let awkward: JSONValue = [
        "type": "chat.send", "chatId": "c",
        "prompt": "a\u{0}\u{8}\t\n\u{c}\r\u{1f}\u{7f}\"\\/é e\u{301} \u{2028}🖥\u{fb33}",
        "\u{20ac}": 1, "\r": -0, "\u{fb33}": [true, false, .null], "1": [:], "\u{1f600}": [[]],
        "\u{80}": -9_007_199_254_740_991,
        "ö": 9_007_199_254_740_991, "": "",
    ]

    private static let members: [String: JSONValue] = [
        "commandId": "5f2c3a10-0000-4000-8000-00000000000a", "issuedAt": "2026-11-21T09:30:00.000Z",
        "expiresAt": "2026-11-21T09:31:00.000Z", "audience": "8899aabbccddeeff",
        "nonce": .string(Base64URL.encode([UInt8](repeating: 1, count: 16))), "payload": awkward, "unknown": ["x": 1],
    ]

    private func signedElsewhere(_ kind: String) async throws -> (identity: DeviceIdentity, body: [UInt8]) {
        let answer = try await python("sign", ["kind": .string(kind), "members": .object(Self.members)])
        let text = try #require(answer["publicKey"]?.string)
        let body = try #require(answer["body"]?.string)
        return (try #require(DeviceIdentity(publicKeyText: text)), Array(body.utf8))
    }

    @Test("A command that the other implementation signed is taken, and refused when it was changed")
    func foreignCommand() async throws {
        let (identity, body) = try await signedElsewhere("command")
        let command = try SignedCommand.parse(body)
        #expect(command.deviceId == identity.deviceID)
        #expect(command.payload.json == Self.awkward.json)
        #expect(command.isSigned(by: identity))
        let text = String(decoding: body, as: UTF8.self)
        let changed = try SignedCommand.parse(
            Array(text.replacing("\"chatId\": \"c\"", with: "\"chatId\": \"d\"").utf8)
        )
        #expect(changed.payload["chatId"] == "d")
        #expect(!changed.isSigned(by: identity))
    }

    @Test("A request for a session that the other implementation signed is taken")
    func foreignSession() async throws {
        let (identity, body) = try await signedElsewhere("session")
        let request = try SessionRequest.parse(body)
        #expect(request.deviceId == identity.deviceID)
        #expect(request.isSigned(by: identity))
    }

    @Test("What this implementation signs is taken by the other one, and refused when it was changed")
    func ownSignatures() async throws {
        let (publicKey, bodies) = try withTemporaryDirectory { directory in
            let key = SecureKeyStore(directory: directory)
            let publicKey = try key.identity().publicKeyText
            let prompt = try #require(Self.awkward["prompt"]?.string)
            let command = try SignedCommand.make(
                payload: .chatSend(chatID: "ü", prompt: prompt, model: nil, allowedTools: ["\u{1f600}", "\u{fb33}"]),
                audience: "8899aabbccddeeff",
                key: key,
                now: Date(timeIntervalSince1970: 1_795_253_400.001)
            )
            return (
                publicKey,
                [
                    ("command", command.body),
                    ("session", try SessionRequest.make(audience: "8899aabbccddeeff", key: key, now: Date()).body),
                ]
            )
        }
        for (kind, body) in bodies {
            let text = String(decoding: body, as: UTF8.self)
            for (body, isValid) in [(text, true), (text.replacing("issuedAt", with: "issuedAs"), false)] {
                let answer = try await python(
                    "verify",
                    ["kind": .string(kind), "publicKey": .string(publicKey), "body": .string(body)]
                )
                #expect(answer == ["valid": .bool(isValid)], "\(kind)")
            }
        }
    }

    @Test(
        "Shares and tags of a pairing are the other implementation's",
        arguments: [PairingSecret.code("012345"), .token("tökén-_")]
    )
    func pairing(secret: PairingSecret) async throws {
        func hex(_ bytes: [UInt8]) -> JSONValue {
            .string(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        }
        let context = PairingContext.sample()
        let (deviceScalar, hostScalar) = (Ristretto.randomScalar(), Ristretto.randomScalar())
        let text =
            switch secret {
            case .code(let text), .token(let text): text
            }
        let theirs = try await python(
            "pair",
            [
                "secret": .string(text), "method": .string(secret.method.rawValue),
                "clientNonce": hex(context.clientNonce),
                "hostNonce": hex(context.hostNonce), "spki": hex(context.spki), "hostId": .string(context.hostID),
                "hostPublicKey": .string(context.hostPublicKey), "hostName": .string(context.hostName),
                "devicePublicKey": .string(context.devicePublicKey), "deviceName": .string(context.deviceName),
                "permissions": .array(context.permissions.map { .string($0.rawValue) }),
                "deviceScalar": hex(deviceScalar), "hostScalar": hex(hostScalar),
            ]
        )
        let initiator = try PairingInitiator(
            secret: secret,
            context: context,
            scalar: SecretBytes(copying: deviceScalar)
        )
        let deviceShare = initiator.share
        let responder = try PairingResponder(
            secret: secret,
            context: context,
            deviceShare: deviceShare,
            scalar: SecretBytes(copying: hostScalar)
        )
        let device = try initiator.receive(hostShare: responder.share)
        let hostTag = try #require(responder.confirm(deviceTag: device.own))
        let ours: JSONValue = [
            "deviceShare": hex(deviceShare), "hostShare": hex(responder.share), "deviceTag": hex(device.own),
            "hostTag": hex(hostTag),
        ]
        #expect(theirs == ours)
    }
}
