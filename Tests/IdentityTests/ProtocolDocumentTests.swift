import CompanionWire
import FoundationEssentials
import Testing

@testable import Identity

/// The worked examples of `docs/protocol.md` are what this code computes.
@Suite struct ProtocolDocumentTests {
    private static func document() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/protocol.md"), encoding: .utf8)
    }

    /// The member of the example's JSON block, as bytes from hex.
    private struct Example {
        let json: JSONValue

        init() throws {
            let document = try ProtocolDocumentTests.document()
            let block = try #require(document.components(separatedBy: "```json\n").dropFirst().first)
            let text = try #require(block.components(separatedBy: "```").first)
            json = try CanonicalJSON(parsing: Array(text.utf8)).value
        }

        func text(_ name: String) throws -> String {
            try #require(json[name]?.string, "\(name)")
        }

        func hex(_ name: String) throws -> [UInt8] {
            let digits = Array(try text(name))
            return try stride(from: 0, to: digits.count, by: 2).map {
                try #require(UInt8(String(digits[$0...$0 + 1]), radix: 16))
            }
        }

        func context() throws -> PairingContext {
            PairingContext(
                clientNonce: try #require(Base64URL.decode(try text("clientNonce"))),
                hostNonce: try #require(Base64URL.decode(try text("hostNonce"))),
                spki: try #require(Base64URL.decode(try text("spki"))),
                hostID: try text("hostId"),
                hostPublicKey: try text("hostPublicKey"),
                hostName: try text("hostName"),
                devicePublicKey: try text("devicePublicKey"),
                deviceName: try text("deviceName"),
                permissions: try #require(json["permissions"]?.array).compactMap(\.string)
                    .map(CompanionPermission.init(rawValue:))
            )
        }
    }

    @Test("The ids of the example are those of its keys")
    func identities() throws {
        let example = try Example()
        for side in ["device", "host"] {
            let identity = try #require(DeviceIdentity(publicKeyText: try example.text("\(side)PublicKey")))
            #expect(identity.deviceID == (try example.text("\(side)Id")))
        }
    }

    @Test("The example's strings, shares and tags come out")
    func exchange() throws {
        let example = try Example()
        let context = try example.context()
        #expect(context.sid == (try example.hex("sid")))
        #expect(context.channelIdentifier == (try example.hex("CI")))
        #expect(context.deviceData(method: .code) == (try example.hex("ADa")))
        #expect(context.hostData == (try example.hex("ADb")))

        let secret = PairingSecret.code(try example.text("code"))
        let passwordRelatedString = try secret.passwordRelatedString().withUnsafeBytes { Array($0) }
        #expect(passwordRelatedString == (try example.hex("PRS")))
        let initiator = try PairingInitiator(
            secret: secret,
            context: context,
            scalar: SecretBytes(copying: try example.hex("ya"))
        )
        #expect(initiator.share == (try example.hex("Ya")))
        let responder = try PairingResponder(
            secret: secret,
            context: context,
            deviceShare: initiator.share,
            scalar: SecretBytes(copying: try example.hex("yb"))
        )
        #expect(responder.share == (try example.hex("Yb")))
        let tags = try initiator.receive(hostShare: responder.share)
        #expect(tags.own == (try example.hex("Ta")))
        #expect(responder.tags.own == (try example.hex("Tb")))
    }

    @Test(
        "The signatures of the examples are genuine, and those of the bytes that are printed",
        arguments: ["command", "session"]
    )
    func signatures(kind: String) throws {
        let example = try Example()
        let document = try Self.document()
        let prefix = "copilotforge-\(kind)-v2\n"
        let printed = try #require(document.components(separatedBy: "    \(prefix)    ").dropFirst().first)
        let object = try #require(printed.components(separatedBy: "\n").first)
        let signature = try #require(
            printed.components(separatedBy: "`").first { $0.utf8.count == 88 && $0.hasSuffix("==") }
        )
        let body = Array((object.dropLast() + ",\"signature\":\"\(signature)\"}").utf8)
        let identity = try #require(DeviceIdentity(publicKeyText: try example.text("devicePublicKey")))
        if kind == "command" {
            let command = try SignedCommand.parse(body)
            #expect(command.signedBytes == Array((prefix + object).utf8))
            #expect(command.isSigned(by: identity))
        } else {
            let request = try SessionRequest.parse(body)
            #expect(request.signedBytes == Array((prefix + object).utf8))
            #expect(request.isSigned(by: identity))
        }
    }
}
