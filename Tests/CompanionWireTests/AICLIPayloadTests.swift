import CompanionWire
import Testing

@Suite struct AICLIPayloadTests {
    @Test(
        "URLs with a local address and a token are pairing codes of AICLI servers",
        arguments: [
            ("http://192.168.1.5:3001?token=abc123", "192.168.1.5:3001", "abc123"),
            ("http://192.168.1.5?token=abc", "192.168.1.5:3001", "abc"),
            ("HTTP://10.0.0.7:4000/?token=a%2Bb", "10.0.0.7:4000", "a+b"),
            ("ws://192.168.1.5:3001/ws?name=x&token=abc", "192.168.1.5:3001", "abc"),
            ("  http://[fe80::1%25eth0]:3001?token=abc".replacing("%25", with: "%"), "[fe80::1%eth0]:3001", "abc"),
        ]
    )
    func payloads(_ text: String, _ endpoint: String, _ token: String) {
        guard case .aicli(let payload) = QRContent(Array(text.utf8)) else {
            Issue.record("\(text) is none")
            return
        }
        #expect("\(payload.endpoint)" == endpoint && payload.token == token)
    }

    @Test(
        "A URL of TLS says so, and one without does not",
        arguments: [
            ("https://192.168.1.5?token=abc", true), ("wss://192.168.1.5:4000/ws?token=abc", true),
            ("HTTPS://10.0.0.7/?token=abc", true), ("http://192.168.1.5?token=abc", false),
            ("ws://192.168.1.5?token=abc", false),
        ]
    )
    func security(_ text: String, _ isSecure: Bool) throws {
        #expect(try #require(AICLIPayload(text)).isSecure == isSecure)
    }

    @Test(
        "Other addresses of the web are not",
        arguments: [
            "https://example.org/?token=abc", "http://example.org?token=abc", "http://8.8.8.8:3001?token=abc",
            "http://192.168.1.5:3001/reset?token=abc", "http://192.168.1.5:3001", "http://192.168.1.5:3001?token=",
            "http://192.168.1.5:3001?token=a&token=b", "http://192.168.1.5:3001?token=a%0D%0AX",
            "http://user@192.168.1.5:3001?token=abc", "http://192.168.1.5:99999?token=abc", "http://?token=abc",
            "http://192.168.1.5:3001#?token=abc", "http://192.168.1.5:3001?token=%ZZ", "https://8.8.8.8?token=abc",
        ]
    )
    func others(_ text: String) {
        #expect(QRContent(Array(text.utf8)) == .foreign("a web address"), "\(text)")
    }

    @Test("A token is visible ASCII of some length")
    func tokens() {
        #expect(AICLIPayload.isToken("a") && AICLIPayload.isToken(String(repeating: "x", count: 1024)))
        for text in ["", "a b", "a\nb", "é", String(repeating: "x", count: 1025)] {
            #expect(!AICLIPayload.isToken(text))
        }
    }
}
