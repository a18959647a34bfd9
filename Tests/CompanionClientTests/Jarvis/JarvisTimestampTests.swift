import CompanionClient
import CompanionWire
import FoundationEssentials
import Testing

@Suite struct JarvisTimestampTests {
    @Test(
        "Times are read with fractions of any length and offsets in any of their forms",
        arguments: [
            ("2026-11-21T09:30:00Z", 0.0), ("2026-11-21T09:30:00.5Z", 0.5),
            ("2026-11-21T09:30:00.123456789Z", 0.123456789),
            ("2026-11-21T10:30:00+01:00", 0), ("2026-11-21T10:30:00+0100", 0), ("2026-11-21T10:30:00+01", 0),
            ("2026-11-21T04:00:00.250-05:30", 0.25), ("2026-11-21t09:30:00z", 0), ("2026-11-21 09:30:00", 0),
            ("2026-11-21T09:30Z", 0), ("2026-11-22T00:30:00+15:00", 0), ("2026-11-21T09:30:00,75Z", 0.75),
        ]
    )
    func times(text: String, fraction: Double) throws {
        let date = try #require(JarvisTimestamp.date(from: text))
        #expect(abs(date.timeIntervalSince1970 - 1_795_253_400 - fraction) < 0.000_001)
    }

    @Test(
        "Days are those of the calendar",
        arguments: [("1970-01-01", 0), ("2000-02-29", 11_016), ("2100-03-01", 47_541)]
    )
    func days(text: String, days: Int) {
        #expect(JarvisTimestamp.date(from: text + "T00:00:00Z")?.timeIntervalSince1970 == Double(days * 86_400))
    }

    @Test(
        "What is no time is none",
        arguments: [
            "", "yesterday", "2026-11-21", "2026-13-21T09:30:00Z", "2026-02-29T09:30:00Z", "2026-11-21T24:00:00Z",
            "2026-11-21T09:60:00Z", "2026-11-21T09:30:00.Z", "2026-11-21T09:30:00Zulu", "2026-11-21T09:30:00+1",
            "2026-11-21T09:30:00+01:0", "٢٠٢٦-11-21T09:30:00Z", "2026-11-21T09:30:00+24:00", "0000-01-01T00:00:00Z",
        ]
    )
    func nonsense(text: String) {
        #expect(JarvisTimestamp.date(from: text) == nil)
    }
}

@Suite struct JarvisBaseTests {
    @Test(
        "A second base URL is HTTPS to any host, or HTTP to a local address",
        arguments: [
            ("https://jarvis.example.com", "https://jarvis.example.com"),
            ("HTTPS://Jarvis.Example.com:8443/home/", "https://jarvis.example.com:8443/home"),
            ("https://203.0.113.5", "https://203.0.113.5:443"),
            ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
            ("http://127.0.0.1:9001", "127.0.0.1:9001"), ("http://192.168.1.7:9000/", "192.168.1.7:9000"),
        ]
    )
    func accepted(text: String, name: String) {
        #expect(JarvisBase(fallback: text)?.description == name)
    }

    @Test(
        "Other second base URLs are none",
        arguments: [
            "", "jarvis.example.com", "http://jarvis.example.com", "http://203.0.113.5:9000", "ftp://192.168.1.7",
            "https://user@jarvis.example.com", "https://jarvis.example.com?x=1", "https://jarvis.example.com/a/../b",
            "https://jarvis.example.com/#x", "https://-x.com", "https://x..com", "https://1.2.3", "https://x.com:0",
            "https://x.com:99999", "https://x.com:1:2", "https://", "https:///x", "https://x.com/a%2fb",
            "https://x com",
        ]
    )
    func refused(text: String) {
        #expect(JarvisBase(fallback: text) == nil)
    }

    @Test("An id is a UUID in the case in which it came, and nothing else")
    func ids() throws {
        let id = try #require(JarvisApprovalID("7b0e4A52-93c1-4F0B-8d6e-21a5c3f79d10"))
        #expect(id.description == "7b0e4A52-93c1-4F0B-8d6e-21a5c3f79d10")
        #expect(id != JarvisApprovalID(id.description.uppercased()))
        for text in [
            "", "../approve/7B0E4A52-93C1-4F0B-8D6E-21A5C3F79D10", "7B0E4A52-93C1-4F0B-8D6E-21A5C3F79D1",
            "7B0E4A5293C14F0B8D6E21A5C3F79D10", "7B0E4A52-93C1-4F0B-8D6E-21A5C3F79D1G",
            "7B0E4A52-93C1-4F0B-8D6E-21A5C3F79D10/", "７B0E4A52-93C1-4F0B-8D6E-21A5C3F79D10",
        ] {
            #expect(JarvisApprovalID(text) == nil, "\(text)")
        }
    }
}
