import CompanionWire
import FoundationEssentials
import Testing

@Suite struct ModelV2Tests {
    private func json(_ value: some Encodable) throws -> String {
        String(decoding: try CompanionJSON.encoder(sorted: true).encode(value), as: UTF8.self)
    }

    private func decode<T: Decodable>(_ type: T.Type, _ json: String) throws -> T {
        try CompanionJSON.decoder().decode(type, from: Data(json.utf8))
    }

    private let date = Date(timeIntervalSince1970: 1_795_253_400)

    @Test("An error of v1 is written as ever, and one of v2 says more")
    func errors() throws {
        #expect(try json(CompanionErrorResponse(error: "e")) == #"{"error":"e","ok":false}"#)
        let error = CompanionErrorResponse(
            error: "e",
            code: .pairingWrongCode,
            retryable: true,
            serverTime: date,
            triesLeft: 2
        )
        #expect(
            try json(error)
                == #"{"code":"pairing.wrong_code","error":"e","ok":false,"retryable":true,"serverTime":"2026-11-21T09:30:00.000Z","triesLeft":2}"#
        )
        #expect(try decode(CompanionErrorResponse.self, try json(error)) == error)
        let version = CompanionErrorResponse(
            error: "e",
            code: .versionUnsupported,
            minimumVersion: 1,
            maximumVersion: 2
        )
        #expect(try decode(CompanionErrorResponse.self, try json(version)) == version)
    }

    @Test("An error is read whatever else its body holds")
    func strangeErrors() throws {
        let error = try decode(
            CompanionErrorResponse.self,
            #"{"ok":false,"error":"e","code":7,"retryable":"no","serverTime":1,"triesLeft":{},"maximumVersion":"x"}"#
        )
        #expect(error == CompanionErrorResponse(error: "e"))
        #expect(
            try decode(CompanionErrorResponse.self, #"{"ok":false,"error":"e","code":"x.y"}"#).code?.rawValue == "x.y"
        )
    }

    @Test("Health says which versions a host speaks, and is read without")
    func health() throws {
        let plain = CompanionHealthResponse(service: "s", version: nil, processStartedAtMs: nil)
        #expect(try json(plain) == #"{"ok":true,"service":"s"}"#)
        let full = CompanionHealthResponse(
            service: "s",
            version: "1",
            processStartedAtMs: 1,
            protocolVersions: [1, 2],
            tlsPort: 7879,
            serverTime: date,
            hostId: "00112233aabbccdd"
        )
        #expect(try decode(CompanionHealthResponse.self, try json(full)) == full)
        let strange = #"{"ok":true,"service":"s","protocolVersions":"2","tlsPort":"x","serverTime":0,"hostId":1}"#
        #expect(try decode(CompanionHealthResponse.self, strange) == plain)
    }

    @Test("A status tells a device of v2 what it may do")
    func status() throws {
        let status = CompanionStatusResponse(
            connectedDevice: nil,
            permissions: [.chatSend],
            device: CompanionDevice(id: "d", name: "n", pairedAt: date, lastSeenAt: nil),
            expiresAt: date
        )
        #expect(try decode(CompanionStatusResponse.self, try json(status)) == status)
        #expect(try json(status).contains(#""permissions":["chat.send"]"#))
    }

    @Test("The steps of a pairing are written as the protocol says")
    func pairing() throws {
        #expect(
            try json(
                PairingShareRequest(
                    pairingId: "p",
                    method: .code,
                    share: "s",
                    deviceName: "d",
                    devicePublicKey: "k",
                    permissions: [.projectCreate, .chatSend]
                )
            )
                == #"{"deviceName":"d","devicePublicKey":"k","method":"code","pairingId":"p","permissions":["project.create","chat.send"],"share":"s"}"#
        )
        let hello = try decode(
            PairingHelloResponse.self,
            #"{"pairingId":"p","hostNonce":"n","hostPublicKey":"k","hostName":"h","methods":["code","token","voice"],"expiresAt":"2026-11-21T09:30:00.000Z","serverTime":"2026-11-21T09:30:00.000Z"}"#
        )
        #expect(hello.methods == [.code, .token, PairingMethod(rawValue: "voice")])
        let end = PairingConfirmResponse(
            tag: "t",
            connectedDevice: ConnectedCompanionDevice(id: "i", name: "n", connectedAt: date, lastSeenAt: nil),
            permissions: [.chatCreate],
            session: SessionGrant(token: "t", expiresAt: date)
        )
        #expect(try decode(PairingConfirmResponse.self, try json(end)) == end)
    }

    @Test("A live event is one flat object without what it is not about")
    func liveEvent() throws {
        let event = LiveEvent(.turnFinished, at: date, chatId: "c", turnId: "t", ok: false)
        #expect(
            try json(event)
                == #"{"at":"2026-11-21T09:30:00.000Z","chatId":"c","ok":false,"turnId":"t","type":"turn.finished"}"#
        )
        #expect(try decode(LiveEvent.self, try json(event)) == event)
        #expect(
            try decode(LiveEvent.self, #"{"type":"new.kind","at":"2026-11-21T09:30:00Z","x":[]}"#).type.rawValue
                == "new.kind"
        )
    }

    private var pin: String { Base64URL.encode([UInt8](repeating: 0xA5, count: 32)) }

    @Test("A payload of v2 starts as v1's does, and is read back")
    func payload() {
        let payload = PairingPayload(
            code: "000001",
            token: "t",
            expiresAt: date,
            version: 2,
            host: "00112233aabbccdd",
            spki: pin,
            port: 7879,
            addr: "192.168.1.5"
        )
        #expect(
            payload.text
                == #"{"protocol":"copilotforge-pair-v1","code":"000001","token":"t","expiresAt":"2026-11-21T09:30:00.000Z","v":2,"host":"00112233aabbccdd","spki":"\#(pin)","port":7879,"addr":"192.168.1.5"}"#
        )
        #expect(QRContent(Array(payload.text.utf8)) == .pairing(payload))
    }

    @Test("A payload names as many addresses as a symbol of version 11 has room for, and the first as v1 has it")
    func addresses() {
        var payload = PairingPayload(
            code: "000001",
            token: String(repeating: "t", count: 22),
            expiresAt: date,
            version: 2,
            host: "00112233aabbccdd",
            spki: pin,
            port: 7879
        )
        let many = (1...30).map { "192.168.100.\($0 + 100)" }
        let named = payload.naming(many)
        #expect(named.addr == many[0] && named.text.utf8.count <= 321)
        #expect(named.otherAddrs == Array(many[1...named.otherAddrs.count]) && named.otherAddrs.count == 3)
        #expect(QRContent(Array(named.text.utf8)) == .pairing(named))
        #expect(
            named.text.hasSuffix(
                #""addr":"192.168.100.101","addrs":["192.168.100.102","192.168.100.103","192.168.100.104"]}"#
            )
        )
        #expect(named.sizes.dropFirst().allSatisfy { $0.otherAddrs.isEmpty && $0.addr == many[0] })
        #expect(named.sizes.count == 4 && named.sizes[1].expiresAt == date, "the other addresses go first")
        #expect(payload.naming([]) == payload)
        payload.addr = "10.0.0.1"
        #expect(payload.naming(["10.0.0.1"]) == payload, "one address is written as before")
    }

    @Test(
        "Other addresses are hints: what cannot be read of them is left out",
        arguments: [
            (#""addrs":"10.0.0.1""#, 0), (#""addrs":[1]"#, 0), (#""addrs":null"#, 0), (#""addrs":["a"]"#, 1),
            (#""addrs":[\#(Array(repeating: "\"1\"", count: 40).joined(separator: ","))]"#, 8),
        ] as [(String, Int)]
    )
    func damagedAddresses(member: String, count: Int) {
        let text = #"{"protocol":"copilotforge-pair-v1","code":"000001","addr":"10.0.0.2",\#(member)}"#
        guard case .pairing(let payload) = QRContent(Array(text.utf8)) else {
            Issue.record("\(QRContent(Array(text.utf8)))")
            return
        }
        #expect(payload.otherAddrs.count == count && payload.addr == "10.0.0.2")
    }

    @Test(
        "A pin or port that cannot be read makes a payload unusable rather than unpinned",
        arguments: [
            #""spki":"AAAA""#, #""spki":7"#, #""spki":"""#, #""port":0"#, #""port":65536"#, #""port":"7879""#,
            #""v":"2""#,
        ]
    )
    func damagedPayload(member: String) {
        let text = #"{"protocol":"copilotforge-pair-v1","code":"000001","token":"t",\#(member)}"#
        guard case .unusable = QRContent(Array(text.utf8)) else {
            Issue.record("\(QRContent(Array(text.utf8)))")
            return
        }
    }
}
