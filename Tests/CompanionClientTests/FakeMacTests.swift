import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionClient

/// The fake host is what everything else is measured with: it has to be right itself.
@Suite struct FakeMacTests {
    @Test func `digests are those of the standard`() {
        #expect(Digest.sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(Digest.sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(Digest.sha1("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(Digest.sha1(String(repeating: "a", count: 64)) == "0098ba824b5c16427bd7a1122a5a442a25ec644d")
    }

    @Test func `strings are written by UTF-16 units`() {
        let units = Array("a🚀\"\n\u{1b}".utf16)
        #expect(JSONText.quoted(units) == "\"a🚀\\\"\\n\\u001b\"")
        #expect(JSONText.quoted(units[..<2]) == #""a\ud83d""#)
        #expect(JSONText.quoted(units[2...2]) == #""\ude80""#)
    }

    @Test func `an answer holds its last 256 units back until after done`() {
        let steps = FakeMacTurn.answering(String(repeating: "a", count: 300), unitsPerFrame: 40).steps
        let frames = steps.compactMap { if case .frame(let json) = $0 { json } else { nil } }
        #expect(frames.count == 4)
        #expect(frames[2] == #"{"type":"done"}"#)
        #expect(frames[3].count == FakeMacTurn.text(String(repeating: "a", count: 256)).count)
    }

    @Test func `pages are JSON for what exists and HTML for what does not`() async throws {
        try await withFakeMac { mac async throws in
            let client = RawClient(port: mac.port)
            let unknown = try await client.send("GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(unknown.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
            #expect(unknown.contains("<pre>Cannot GET /nothing</pre>"))
            let body = "{not json"
            let malformed = try await client.send(
                "POST /companion/pairing/complete HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            #expect(malformed.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(malformed.contains("<!DOCTYPE html>"))
            let command = try await client.send("POST /companion/command HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(command.hasPrefix("HTTP/1.1 501 "))
        }
    }

    @Test func `a prompt to an unknown chat makes it, with a title of at most 48 characters`() async throws {
        try await withPeers(
            .with {
                $0.projects = []; $0.chats = []
            }
        ) { mac, client async throws in
            let prompt = "  Please  fix\nthe login, then write a test for it, and tell me  "
            for try await _ in client.continueChat(chatID: "made", request: .prompt(prompt)) {}
            let projects = try await client.projects()
            #expect(projects.map(\.localPath) == ["/Users/ada/web", ""])
            #expect(projects.first?.id == String(Digest.sha1("/Users/ada/web").prefix(16)))
            let chat = try #require(try await client.chats(projectID: projects[0].id).first)
            #expect(chat.title == "Please fix the login, then write a test for i...")
            #expect(chat.title.count == 48)
            #expect(mac.messages(of: "made").map(\.role) == [.user, .assistant])
        }
    }

    @Test func `a second device supersedes the first, which stays listed`() async throws {
        try await withPeers { _, client async throws in
            let first = try #require(try await client.status().connectedDevice?.id)
            let second = try #require(try await client.completePairing(.example).connectedDevice?.id)
            #expect(try await client.devices().map(\.id) == [first, second])
            let again = try await clientError { try await client.completePairing(.example) }
            #expect(again.hostText == "No active pairing session")
        }
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sat, 21 Nov 2026 09:30:00 GMT", 1_795_253_400),
    ])
    func `dates of headers are read`(_ text: String, _ seconds: Double) {
        #expect(HTTPDate.date(from: text)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "now", "Sun, 06 Nov 1994 08:49:37", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 +8:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 08:49:37 GMT",
    ])
    func `what is no date of a header is none`(_ text: String) {
        #expect(HTTPDate.date(from: text) == nil)
    }
}
