import AsyncHTTPClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Testing

@Suite("What is kept of a request before it is known who sends it", .timeLimit(.minutes(15)))
struct UnreadBodyTests {
    @Test(
        "A large body that nobody may send is not waited for",
        arguments: [
            ("POST", "/nowhere", 404), ("GET", "/health", 200), ("DELETE", "/companion/devices/x", 200),
            ("PUT", "/health", 405), ("POST", "/companion/chats/x/continue", 403), ("POST", "/companion/command", 501),
            ("POST", "/companion/pairing/complete", 413), ("POST", "/companion/disconnect", 200),
        ]
    )
    func plain(method: String, path: String, status: Int) async throws {
        try await withHost { host in
            let port = host.port
            let answer = try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send(
                    "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        + "Content-Length: 1000000\r\n\r\n"
                )
                return connection.read(until: "\r\n\r\n")
            }
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        }
    }

    @Test(
        "Without a session nothing large is read; what proves itself by its own signature may be 8 KiB",
        arguments: [
            ("/companion/command", 401, CompanionErrorCode.sessionRequired),
            ("/companion/chats/x/continue", 401, .sessionRequired), ("/companion/disconnect", 401, .sessionRequired),
            ("/companion/session", 413, .requestTooLarge), ("/companion/pairing/hello", 413, .requestTooLarge),
            ("/companion/pairing/share", 413, .requestTooLarge), ("/companion/pairing/confirm", 413, .requestTooLarge),
            ("/nowhere", 404, .requestNotFound),
        ]
    )
    func secure(path: String, status: UInt, code: CompanionErrorCode) async throws {
        try await withHostAndDevice { host, device in
            let (body, source) = AsyncStream.makeStream(of: ByteBuffer.self)
            defer { source.finish() }
            var request = HTTPClientRequest(url: "https://127.0.0.1:\(host.tlsPort)\(path)")
            request.method = .POST
            request.headers.add(name: ProtocolVersion.header, value: "2")
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .stream(body, length: .known(Int64(1_000_000)))
            let response = try await device.http.execute(request, timeout: .seconds(60))
            #expect(response.status.code == status)
            let content = try await response.body.collect(upTo: 1 << 20)
            let error = try CompanionJSON.decoder().decode(
                CompanionErrorResponse.self,
                from: Data(content.readableBytesView)
            )
            #expect(error.code == code)
        }
    }

    @Test("A prompt of half a MiB comes with a session, and without one the device hears that it needs one")
    func largePrompt() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let chat = try await device.newChat().id
            let prompt = "help " + String(repeating: "x", count: 1 << 19)
            let command = try await device.sign(
                .chatSend(chatID: chat, prompt: prompt, model: nil, allowedTools: nil)
            )
            let token = device.token
            device.token = nil
            let refused = try await device.send(command)
            device.token = token
            let taken = try await device.send(command)
            #expect(refused.status == 401 && refused.code == .sessionRequired)
            #expect(taken.status == 200)
        }
    }
}
