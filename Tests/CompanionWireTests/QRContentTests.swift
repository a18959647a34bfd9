import CompanionWire
import FoundationEssentials
import Testing

@Suite struct QRContentTests {
    private func read(_ text: String) -> QRContent { QRContent(Array(text.utf8)) }

    @Test("A full payload is read, unknown keys are ignored")
    func full() {
        let content = read(
            #" {"protocol":"copilotforge-pair-v1","code":"012345","token":"t","expiresAt":"2026-11-21T09:30:00.000Z","v":2,"x":[]} "#
        )
        let date = Date(timeIntervalSince1970: 1_795_253_400)
        #expect(content == .pairing(PairingPayload(code: "012345", token: "t", expiresAt: date, version: 2)))
    }

    @Test("Token and expiry may be absent or null")
    func codeOnly() {
        let expected = QRContent.pairing(PairingPayload(code: "012345", token: nil, expiresAt: nil))
        #expect(read(#"{"protocol":"copilotforge-pair-v1","code":"012345"}"#) == expected)
        #expect(read(#"{"protocol":"copilotforge-pair-v1","code":"012345","token":null,"expiresAt":null}"#) == expected)
    }

    @Test(
        "Payloads of ours that cannot be used say so",
        arguments: [
            #"{"protocol":"copilotforge-pair-v1"}"#, #"{"protocol":"copilotforge-pair-v1","code":123456}"#,
            #"{"protocol":"copilotforge-pair-v1","code":"12345"}"#,
            #"{"protocol":"copilotforge-pair-v1","code":"١٢٣٤٥٦"}"#,
            #"{"protocol":"copilotforge-pair-v9","code":"123456"}"#,
            #"{"protocol":"copilotforge-pair-v1","code":"123456","expiresAt":"soon"}"#,
        ]
    )
    func unusable(text: String) {
        guard case .unusable = read(text) else {
            Issue.record("\(read(text))")
            return
        }
    }

    @Test(
        "Foreign codes are named",
        arguments: [
            ("https://example.org", "a web address"), ("WIFI:S:x;;", "Wi-Fi access data"),
            ("BEGIN:VCARD\n", "a contact"),
            ("123456", "six digits without a pairing protocol"), ("hello", "plain text"), ("", "an empty text"),
            ("{", "text that looks like JSON"), (#"{"a":1}"#, "JSON data without a pairing protocol"),
            (#"{"protocol":"other"}"#, "a code for another protocol"),
            (#"{"protocol":1}"#, "text that looks like JSON"),
        ]
    )
    func foreign(text: String, what: String) {
        #expect(read(text) == .foreign(what))
    }

    @Test("Binary data and a megabyte of JSON are foreign, at once")
    func hostile() {
        #expect(QRContent([0xff, 0xfe, 0x00]) == .foreign("binary data"))
        let huge = #"{"protocol":"copilotforge-pair-v1","code":""# + String(repeating: "1", count: 1 << 20) + #""}"#
        guard case .foreign = read(huge) else {
            Issue.record("a megabyte was taken for a payload")
            return
        }
    }

    @Test("A payload is written as deployed hosts write it, and read back")
    func roundTrip() {
        let date = Date(timeIntervalSince1970: 1_795_253_400)
        let payload = PairingPayload(code: "000001", token: "a/b+c", expiresAt: date)
        #expect(
            payload.text
                == #"{"protocol":"copilotforge-pair-v1","code":"000001","token":"a/b+c","expiresAt":"2026-11-21T09:30:00.000Z"}"#
        )
        #expect(read(payload.text) == .pairing(payload))
    }
}
