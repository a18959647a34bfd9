import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import NIOConcurrencyHelpers
import Testing

@testable import pairtool

/// Pairing by protocol 2 with the built host: nothing is faked but those who are in between.
@Suite(.serialized, .timeLimit(.minutes(15))) struct VerifiedPairTests {
    private func withHost<R: Sendable>(_ body: @escaping @Sendable (HostEvents, Sandbox) async throws -> R) async throws
        -> R
    {
        try await withProject { host, user in
            try await withRunningHost(host, ["--project", host.directory + "/garden", "--name", "Shed"]) { events in
                try await body(events, user)
            }
        }
    }

    private func file(_ payload: PairingPayload, _ user: Sandbox) throws -> String {
        try user.file("payload.json", Array(payload.text.utf8))
    }

    @Test("A QR code leads to its host without a name, and both sides have proven themselves")
    func qrCode() async throws {
        try await withHost { events, user in
            let payload = try await events.payload
            let result = await user.run("pair", "--qr", try file(payload, user), "--name", "desk", "--json")
            #expect(result.status == 0, "\(result.err)")
            let row = try #require(try result.json.first)
            #expect(row["trust"]?.string == "verified")
            #expect(row["id"]?.string == payload.host)
            #expect(row["spki"]?.string == payload.spki)
            #expect(row["port"] == .number(Double(try await events.ports.secure)))
            #expect(try await events.first("paired")["deviceName"]?.string == "desk")
            #expect(await user.run("projects", "--require", "verified").status == 0)
            let modes = try await user.shell("stat -c '%a %n' data/pairtool/sessions.json data/pairtool/hosts.json")
            #expect(modes.out == "600 data/pairtool/sessions.json\n600 data/pairtool/hosts.json\n")
        }
    }

    @Test("Plain HTTP at the port of HTTPS is answered with the address to use")
    func plainAtSecurePort() async throws {
        try await withHost { events, user in
            let place = "127.0.0.1:\(try await events.ports.secure)"
            let result = await user.run("pair", "--url", "http://\(place)", "--code-stdin", stdin: "123456\n")
            #expect(result.status == 10)
            let message = "pairtool: \(place) speaks HTTPS, not plain HTTP: use https://\(place)\n"
            #expect(result.err.hasPrefix(message), "\(result.err)")
        }
    }

    @Test("Six digits pair too, and a wrong digit is told on both sides with the tries that are left")
    func sixDigits() async throws {
        try await withHost { events, user in
            let code = try await events.payload.code
            let url = "http://127.0.0.1:\(try await events.ports.plain)"
            let wrong = code == "000000" ? "000001" : "000000"
            let refused = await user.run("pair", "--url", url, "--code-stdin", "--json", stdin: wrong + "\n")
            #expect(refused.status == 6)
            #expect(try refused.errorCode == "pairing.wrong_code")
            #expect(refused.err.contains("2 tries left"))
            #expect(try await events.first("wrong_code")["triesLeft"] == .number(2))
            #expect(await user.run("hosts").isEmptyList, "nothing is on record")
            let paired = await user.run("pair", "--url", url, "--code-stdin", "--json", stdin: code + "\n")
            #expect(paired.status == 0, "\(paired.err)")
            #expect(try paired.json[0]["trust"]?.string == "verified")
        }
    }

    @Test(
        "A fresh QR code pairs whatever this machine's clock says, and commands work",
        arguments: [-7200.0, 600, 86400]
    )
    func otherClock(seconds: Double) async throws {
        try await withHost { events, user in
            let file = try file(try await events.payload, user)
            let now: @Sendable () -> Date = { Date().addingTimeInterval(seconds) }
            let paired = await user.run("pair", "--qr", file, "--name", "desk", now: now)
            #expect(paired.status == 0, "\(paired)")
            #expect(await user.run("projects", now: now).status == 0)
            let sent = await user.run("send", "--new", "hello", "-q", now: now)
            #expect(sent.status == 0, "\(sent)")
        }
    }

    @Test("Digits that were right until a moment ago are called so, in place of an interception")
    func lateDigits() async throws {
        try await withProject { host, user in
            let arguments = ["--project", host.directory + "/garden", "--name", "Shed"]
            try await withRunningHost(host, arguments) { events in
                let old = try await events.payload.code
                var new = old
                while new == old { new = try Self.code(try await host.newChallenge()) }
                let url = "http://127.0.0.1:\(try await events.ports.plain)"
                let late = await user.run("pair", "--url", url, "--code-stdin", stdin: old + "\n")
                #expect(late.status == 6, "\(late)")
                #expect(late.err.contains("wrong code (2 tries left). The host has had a new code for "), "\(late)")
                #expect(late.err.contains("next: enter the code that the host shows now: pairtool pair"), "\(late)")
            }
        }
    }

    @Test("Digits are not tried if the host changes its code while they are typed, and are asked for again")
    func changedWhileTyping() async throws {
        try await withProject { host, user in
            let arguments = ["--project", host.directory + "/garden", "--name", "Shed"]
            try await withRunningHost(host, arguments) { events in
                let old = try await events.payload.code
                let url = "http://127.0.0.1:\(try await events.ports.plain)"
                try await user.atTerminal(["pair", "--url", url]) { terminal in
                    try await terminal.shows("Six digits")
                    let new = try Self.code(try await host.newChallenge())
                    try await terminal.type(old + "\r")
                    try await terminal.shows("has had a new code for ")
                    try await terminal.shows("nothing was sent. Try again.")
                    try await terminal.shows("Six digits")
                    try await terminal.type(new + "\r")
                    // A code is shown while it is typed.
                    try await terminal.shows(new)
                    #expect(try await terminal.status == 0)
                }
                #expect(await !events.has("wrong_code"), "it costs no try")
            }
        }
    }

    private static func code(_ payload: String) throws -> String {
        guard case .pairing(let payload) = QRContent(Array(payload.utf8)) else { throw CancellationError() }
        return payload.code
    }

    @Test("After the last wrong digits it is a new code that is needed")
    func lastTry() async throws {
        try await withHost { events, user in
            let wrong = try await events.payload.code == "000000" ? "000001" : "000000"
            let url = "http://127.0.0.1:\(try await events.ports.plain)"
            for next in ["check the digits", "check the digits", "show a new code on the host"] {
                let refused = await user.run("pair", "--url", url, "--code-stdin", stdin: wrong + "\n")
                #expect(refused.status == 6 && refused.err.contains("next: \(next), then: pairtool pair"), "\(refused)")
            }
        }
    }

    @Test("Reading only, or single permissions, can be asked for")
    func permissions() async throws {
        try await withHost { events, user in
            let file = try file(try await events.payload, user)
            let result = await user.run("pair", "--qr", file, "--read-only", "--json")
            #expect(try result.json[0]["permissions"] == .list([]))
            let status = await user.run("status", "--json")
            #expect(try status.json[0]["permissions"] == .list([]))
        }
        try await withHost { events, user in
            let file = try file(try await events.payload, user)
            let result = await user.run("pair", "--qr", file, "--permission", "chat.send", "--json")
            #expect(try result.json[0]["permissions"] == .list([.text("chat.send")]))
        }
    }

    @Test("Somebody in between who passes everything on gets nothing, and both sides say so")
    func interceptedCode() async throws {
        try await withHost { events, user in
            let payload = try await events.payload
            try await withTLSInterceptor(before: events.ports.secure) { interceptor in
                let url = "https://127.0.0.1:\(interceptor.port)"
                let result = await user.run("pair", "--url", url, "--code-stdin", "--json", stdin: payload.code + "\n")
                #expect(result.status == 6, "\(result.err)")
                #expect(result.err.contains("someone may be intercepting"))
                let seen = try await events.first("wrong_code")
                #expect(seen["triesLeft"] == .number(2))
                #expect(interceptor.overheard.contains("/companion/pairing/confirm"), "it did hear the exchange")
                #expect(!interceptor.overheard.contains(payload.code))
                let token = try #require(payload.token)
                #expect(!interceptor.overheard.contains(token))
                #expect(await user.run("hosts").isEmptyList)
                #expect(await !events.has("paired"))
            }
        }
    }

    @Test("With a QR code somebody in between is met before anything is sent, and both pins are named")
    func interceptedQRCode() async throws {
        try await withHost { events, user in
            let payload = try await events.payload
            try await withTLSInterceptor(before: events.ports.secure) { interceptor in
                let file = try file(payload, user)
                let url = "https://127.0.0.1:\(interceptor.port)"
                let result = await user.run("pair", "--qr", file, "--url", url, "--json")
                #expect(result.status == 1)
                let reported = try result.errorCode
                #expect(reported == "pairing.pin_mismatch")
                let pin = try #require(payload.spki)
                #expect(result.err.contains(pin))
                #expect(result.err.contains(interceptor.certificate.spki))
                #expect(interceptor.overheard.isEmpty)
                #expect(await !events.has("wrong_code"))
            }
        }
    }

    @Test(
        "Who takes the host's place without the code cannot prove it; with the right guess it could",
        arguments: [false, true]
    )
    func impostor(guessesRight: Bool) async throws {
        let impostor = try Impostor(code: guessesRight ? "482913" : "482914")
        try await withTLSTestHost(certificate: impostor.certificate, answer: impostor.answer) { host in
            try await Sandbox.with { user in
                let result = await user.run(
                    "pair",
                    "--url",
                    "https://\(host.endpointText)",
                    "--code-stdin",
                    "--json",
                    stdin: "482913\n"
                )
                #expect(host.requests("POST", "/companion/pairing/confirm").count == 1)
                if guessesRight {
                    #expect(result.status == 0, "\(result.err)")
                } else {
                    #expect(result.status == 1)
                    let reported = try result.errorCode
                    #expect(reported == "pairing.unproven")
                    #expect(await user.run("hosts").isEmptyList)
                    let tokens = FileManager.default.fileExists(atPath: user.directory + "/data/pairtool/sessions.json")
                    #expect(!tokens)
                }
                #expect(!host.requests.contains { $0.text.contains("482913") })
            }
        }
    }

    @Test("Somebody in between who knows the code has both sides: it is the one guess that they are safe by")
    func interceptorWithTheCode() async throws {
        try await withHost { events, user in
            let code = try await events.payload.code
            let plain = try await events.ports.plain
            let impostor = try Impostor(code: code)
            try await withTLSTestHost(certificate: impostor.certificate, answer: impostor.answer) { between in
                let url = "https://\(between.endpointText)"
                let paired = await user.run("pair", "--url", url, "--code-stdin", "--json", stdin: code + "\n")
                #expect(paired.status == 0, "\(paired)")
                let pin = try paired.json[0]["spki"]?.string
                #expect(pin == impostor.certificate.spki)
            }
            // To the host it is a device like any other.
            try await Sandbox.with { own in
                let url = "http://127.0.0.1:\(plain)"
                let words = ["pair", "--url", url, "--code-stdin", "--name", "desk"]
                let paired = await own.run(words, stdin: code + "\n")
                #expect(paired.status == 0, "\(paired)")
            }
            #expect(try await events.first("paired")["deviceName"]?.string == "desk")
            #expect(await !events.has("wrong_code"))
        }
    }

    @Test("What a host refuses has an exit code of its own", arguments: Refusal.all)
    func refusals(refusal: Refusal) async throws {
        try await withTLSTestHost { _, _ in
            [.json(refusal.status, refusal.body)]
        } _: { host in
            try await Sandbox.with { user in
                let url = "https://\(host.endpointText)"
                let result = await user.run("pair", "--url", url, "--code-stdin", "--json", stdin: "482913\n")
                #expect(result.status == refusal.exit, "\(result.err)")
                let code = try result.errorCode
                #expect(code == refusal.code)
            }
        }
    }

    struct Refusal: Sendable, CustomStringConvertible {
        var status: Int
        var body: String
        var exit: Int32
        var code: String

        var description: String { code }

        static let all: [Refusal] =
            [
                ("pairing.expired", 410, 7, "pairing.expired"), ("pairing.not_active", 409, 7, "pairing.none_active"),
                ("pairing.locked", 423, 8, "pairing.locked"), ("permission.denied", 403, 9, "pairing.forbidden"),
                ("pairing.rate_limited", 429, 1, "pairing.rate_limited"),
            ].map { code, status, exit, reported in
                Refusal(
                    status: status,
                    body: #"{"ok":false,"error":"no","code":"\#(code)"}"#,
                    exit: exit,
                    code: reported
                )
            } + [
                Refusal(
                    status: 426,
                    body:
                        #"{"ok":false,"error":"no","code":"version.unsupported","minimumVersion":3,"maximumVersion":4}"#,
                    exit: 12,
                    code: "pairing.version"
                )
            ]
    }
}

/// Somebody who takes a host's place, with keys of its own and a guess at the code.
struct Impostor: Sendable {
    let certificate: TestCertificate
    private let code: String
    private let hostKey = Base64.encode((0..<32).map { _ in UInt8.random(in: 0...255) })
    private let hostNonce = (0..<16).map { _ in UInt8.random(in: 0...255) }
    private let state: State

    private final class State: Sendable {
        let clientNonce = NIOLockedValueBox<[UInt8]>([])
        let responder = NIOLockedValueBox<PairingResponder?>(nil)
        let deviceKey = NIOLockedValueBox("")
    }

    init(code: String) throws {
        self.code = code
        certificate = try TestCertificate()
        state = State()
    }

    @Sendable func answer(to request: FakeMac.Request, _ count: Int) throws -> [FakeMacAction] {
        let decoder = CompanionJSON.decoder()
        let body = Data(request.body)
        switch request.path {
        case "/companion/pairing/hello":
            let hello = try decoder.decode(PairingHelloRequest.self, from: body)
            state.clientNonce.withLockedValue { $0 = Base64URL.decode(hello.clientNonce) ?? [] }
            return try json(
                PairingHelloResponse(
                    pairingId: "p",
                    hostNonce: Base64URL.encode(hostNonce),
                    hostPublicKey: hostKey,
                    hostName: "Shed",
                    methods: [.code, .token],
                    expiresAt: Date().addingTimeInterval(300),
                    serverTime: Date()
                )
            )
        case "/companion/pairing/share":
            let share = try decoder.decode(PairingShareRequest.self, from: body)
            state.deviceKey.withLockedValue { $0 = share.devicePublicKey }
            let context = PairingContext(
                clientNonce: state.clientNonce.withLockedValue { $0 },
                hostNonce: hostNonce,
                spki: Base64URL.decode(certificate.spki) ?? [],
                hostID: DeviceIdentity.deviceID(publicKeyText: hostKey),
                hostPublicKey: hostKey,
                hostName: "Shed",
                devicePublicKey: share.devicePublicKey,
                deviceName: share.deviceName,
                permissions: share.permissions
            )
            let responder = try PairingResponder(
                secret: .code(code),
                context: context,
                deviceShare: Base64.decode(share.share) ?? []
            )
            state.responder.withLockedValue { $0 = responder }
            return try json(PairingShareResponse(share: Base64.encode(responder.share)))
        default:
            let tag = try decoder.decode(PairingConfirmRequest.self, from: body).tag
            // Whether its guess was right or not, it says that all is well.
            let own = state.responder.withLockedValue { $0 }?.confirm(deviceTag: Base64.decode(tag) ?? [])
            return try json(
                PairingConfirmResponse(
                    tag: Base64.encode(own ?? [UInt8](repeating: 7, count: 64)),
                    connectedDevice: ConnectedCompanionDevice(
                        id: DeviceIdentity.deviceID(publicKeyText: state.deviceKey.withLockedValue { $0 }),
                        name: "desk",
                        connectedAt: nil,
                        lastSeenAt: nil
                    ),
                    permissions: [],
                    session: SessionGrant(token: UUID().uuidString, expiresAt: Date().addingTimeInterval(60))
                )
            )
        }
    }

    private func json(_ value: some Encodable) throws -> [FakeMacAction] {
        [.json(200, String(decoding: try CompanionJSON.encoder().encode(value), as: UTF8.self))]
    }
}
