import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@testable import pairtool

/// What somebody has who recorded a pairing of the built host, and could even read what is inside of TLS.
@Suite(.serialized, .timeLimit(.minutes(15))) struct RecordedPairTests {
    /// The bodies of a pairing, in their order.
    private struct Recording {
        struct Message {
            /// The request's target; of an answer, its status.
            var about: String
            var body: [String: ShownJSON]

            /// Its members, those of objects in it included.
            var members: Set<String> { Self.names(.object(body), "") }

            private static func names(_ value: ShownJSON, _ path: String) -> Set<String> {
                guard case .object(let members) = value else { return [path] }
                return members.reduce(into: []) { $0.formUnion(names($1.value, path + "/" + $1.key)) }
            }

            func bytes(_ name: String) throws -> [UInt8] { try #require(Base64.decode(text(name))) }
            func nonce(_ name: String) throws -> [UInt8] { try #require(Base64URL.decode(text(name))) }
            func text(_ name: String) throws -> String { try #require(body[name]?.string) }
        }

        let messages: [Message]

        /// Takes the messages of HTTP/1.1 apart, which came one after the other.
        init(_ bytes: [UInt8]) throws {
            var messages: [Message] = []
            var rest = bytes[...]
            while let end = rest.indices.first(where: { rest[$0...].starts(with: Array("\r\n\r\n".utf8)) }) {
                let head = String(decoding: rest[..<end], as: UTF8.self).components(separatedBy: "\r\n")
                let length = head.compactMap { line -> Int? in
                    guard line.lowercased().hasPrefix("content-length:") else { return nil }
                    return Int(line.dropFirst(15).filter { $0 != " " })
                }.first
                let body = rest[(end + 4)...].prefix(length ?? 0)
                rest = rest[body.endIndex...]
                let json = body.isEmpty ? [:] : try JSONDecoder().decode([String: ShownJSON].self, from: Data(body))
                messages.append(Message(about: String(head[0].split(separator: " ")[1]), body: json))
            }
            try #require(rest.isEmpty, "all of it was understood")
            self.messages = messages
        }

        /// The request of a step and its answer.
        func step(_ name: String) throws -> (request: Message, answer: Message) {
            let indices = messages.indices.filter { messages[$0].about == "/companion/pairing/\(name)" }
            try #require(indices.count == 1, "\(name) \(messages.map(\.about))")
            let answer = messages[(indices[0] + 1)...].first
            try #require(answer?.about == "200", "\(name) \(messages.map(\.about))")
            return (messages[indices[0]], try #require(answer))
        }

        /// Whether a guess fits what was recorded, as far as anybody can tell who has no scalar: with an exchange of
        /// one's own in the place of either side.
        func fits(_ guess: PairingSecret, spki: [UInt8]) throws -> Bool {
            let (hello, share, confirm) = (try step("hello"), try step("share"), try step("confirm"))
            guard case .list(let asked)? = share.request.body["permissions"] else { throw CancellationError() }
            let hostKey = try hello.answer.text("hostPublicKey")
            let context = PairingContext(
                clientNonce: try hello.request.nonce("clientNonce"),
                hostNonce: try hello.answer.nonce("hostNonce"),
                spki: spki,
                hostID: DeviceIdentity.deviceID(publicKeyText: hostKey),
                hostPublicKey: hostKey,
                hostName: try hello.answer.text("hostName"),
                devicePublicKey: try share.request.text("devicePublicKey"),
                deviceName: try share.request.text("deviceName"),
                permissions: asked.compactMap { $0.string.map(CompanionPermission.init(rawValue:)) }
            )
            let (deviceShare, hostShare) = (try share.request.bytes("share"), try share.answer.bytes("share"))
            let (deviceTag, hostTag) = (try confirm.request.bytes("tag"), try confirm.answer.bytes("tag"))
            let host = try PairingResponder(secret: guess, context: context, deviceShare: deviceShare)
            let device = try PairingInitiator(secret: guess, context: context)
            let isOneOfThem = host.share == hostShare || device.share == deviceShare
            let tags = try device.receive(hostShare: hostShare)
            return isOneOfThem || host.confirm(deviceTag: deviceTag) != nil || tags.own == deviceTag
                || tags.verifies(hostTag)
        }
    }

    private static let expected: [(step: String, request: Set<String>, answer: Set<String>)] = [
        (
            "hello", ["/clientNonce"],
            [
                "/pairingId", "/hostNonce", "/hostPublicKey", "/hostName", "/methods", "/expiresAt", "/serverTime",
            ]
        ),
        (
            "share", ["/pairingId", "/method", "/share", "/deviceName", "/devicePublicKey", "/permissions"],
            ["/share"]
        ),
        (
            "confirm", ["/pairingId", "/tag"],
            [
                "/tag", "/permissions", "/session/token", "/session/expiresAt", "/connectedDevice/id",
                "/connectedDevice/name", "/connectedDevice/connectedAt", "/connectedDevice/lastSeenAt",
            ]
        ),
    ]

    @Test(
        "The frames of a pairing have known members and no others, and tell no guess from another",
        arguments: [
            false, true,
        ]
    )
    func frames(byQRCode: Bool) async throws {
        try await withProject { host, user in
            let arguments = ["--project", host.directory + "/garden", "--name", "Shed"]
            try await withRunningHost(host, arguments) { events in
                let payload = try await events.payload
                let token = try #require(payload.token)
                let certificate = try TestCertificate(hostFile: host.directory + "/data/pairtool/host/tls.pem")
                #expect(certificate.spki == payload.spki)
                let overheard = try await withTLSInterceptor(
                    before: events.ports.secure,
                    certificate: certificate
                ) { interceptor in
                    var words = ["pair", "--url", "https://127.0.0.1:\(interceptor.port)", "--json"]
                    words += byQRCode ? ["--qr", try user.file("qr", Array(payload.text.utf8))] : ["--code-stdin"]
                    let paired = await user.run(words, stdin: payload.code + "\n")
                    try #require(paired.status == 0, "\(paired) after \(interceptor.overheard)")
                    return interceptor.overheard
                }
                #expect(!overheard.contains(payload.code) && !overheard.contains(token))

                let recording = try Recording(Array(overheard.utf8))
                for (name, request, answer) in Self.expected {
                    let step = try recording.step(name)
                    #expect(step.request.members == request, "\(name)")
                    #expect(step.answer.members == answer, "\(name)")
                }
                let others = recording.messages.map(\.about).filter { $0.hasPrefix("/") && !$0.contains("/pairing/") }
                #expect(Set(others).isSubset(of: ["/health", "/companion/status"]))

                let right: PairingSecret = byQRCode ? .token(token) : .code(payload.code)
                let other = payload.code == "000000" ? "000001" : "000000"
                let wrong: PairingSecret = byQRCode ? .token(token + "A") : .code(other)
                let spki = try #require(Base64URL.decode(certificate.spki))
                for guess in [right, wrong] { #expect(try !recording.fits(guess, spki: spki)) }
            }
        }
    }
}
