import CompanionWire
import FoundationEssentials
import HTTPTypes
import Testing

@testable import CompanionHost

@Suite("What the server refuses", .timeLimit(.minutes(15)))
struct HTTPGuardTests {
    @Test("Errors of any type become a status and a text that tells nothing to strangers")
    func anyError() {
        for error in [TestFailure("secret"), CompanionHostError(.databaseUnavailable, "secret")] as [any Error] {
            let answer = HostResponseError(describing: error)
            #expect(answer.status.code == 500 && answer.text == "The host could not do this")
        }
    }

    @Test("A refusal's code decides its status; what differs for the same code says so")
    func statusOfRefusal() {
        let statuses: [CompanionErrorCode: Int] = [
            .requestInvalid: 400, .pairingBadShare: 400, .commandBadShape: 400, .commandBadTime: 400,
            .commandExpired: 400, .sessionRequired: 401, .sessionExpired: 401, .sessionBadSignature: 401,
            .commandBadSignature: 401, .requestForbidden: 403, .permissionDenied: 403, .deviceUnknown: 403,
            .deviceRevoked: 403, .deviceExpired: 403, .pairingWrongCode: 403, .pairingWrongToken: 403,
            .sessionWrongAudience: 403, .commandWrongAudience: 403, .requestNotFound: 404, .turnUnknown: 404,
            .pairingNotActive: 409, .sessionReplayed: 409, .commandReplayed: 409, .commandConflict: 409,
            .chatBusy: 409, .pairingExpired: 410, .pairingLocked: 423, .pairingRateLimited: 429,
            .sessionRateLimited: 429, .quotaExceeded: 429, .internal: 500, .hostAgentUnavailable: 503,
            .hostAgentSignIn: 503, .hostStorageFailed: 503,
        ]
        for (code, status) in statuses {
            let answer = HostResponseError(HostError(code, "text"))
            let challenge = [.sessionRequired, .sessionExpired].contains(code) ? "Bearer" : nil
            let hint =
                switch code {
                case .sessionRequired: ": POST /companion/session"
                case .sessionExpired: ": POST /companion/session gives a new one"
                default: ""
                }
            #expect(answer.status.code == status && answer.code == code && answer.text == "text" + hint, "\(code)")
            #expect(answer.headers[.wwwAuthenticate] == challenge && answer.headers[.retryAfter] == nil, "\(code)")
        }
        let existing = HostResponseError(HostError(.requestInvalid, "", variant: .alreadyExists))
        #expect(existing.status.code == 409 && existing.code == .requestInvalid)
        let signed = HostResponseError(HostError(.sessionExpired, "", variant: .signedRequest))
        #expect(signed.status.code == 401 && signed.headers[.wwwAuthenticate] == nil)
        let v1 = HostResponseError(HostError(.chatBusy, "", variant: .textOnlyInV1))
        #expect(v1.status.code == 409 && v1.code == nil)
        let later = HostResponseError(HostError(.quotaExceeded, "", retryAfter: 30))
        #expect(later.headers[.retryAfter] == "30")
    }

    @Test(
        "Every answer is JSON and has a Date",
        arguments: [
            ("GET", "/health", 200), ("GET", "/companion/status", 200), ("GET", "/nowhere", 404), ("GET", "/", 404),
            ("POST", "/companion/sync/snapshot", 404), ("POST", "/companion/command", 501), ("POST", "/health", 405),
            ("PUT", "/companion/status", 405), ("OPTIONS", "/companion/status", 405),
            ("GET", "/companion/projects", 403),
            ("DELETE", "/companion/devices", 405), ("PATCH", "/companion/chats/x/continue", 405),
        ]
    )
    func statuses(method: String, path: String, status: Int) async throws {
        try await withHost { host in
            let reply = try await host.raw(method, path)
            #expect(reply.status == status)
            #expect(reply.header("content-type") == "application/json; charset=utf-8")
            #expect(reply.header("date") != nil)
            #expect(reply.header("access-control-allow-origin") == nil)
            #expect(status == 200 || reply.body.hasPrefix(#"{"#) && reply.error != nil)
        }
    }

    @Test("HEAD is answered as GET is, without the body")
    func head() async throws {
        try await withHost { host in
            try await host.pair()
            for path in ["/health", "/companion/status", "/companion/projects", "/companion/chats/x/messages"] {
                let get = try await host.raw("GET", path)
                let head = try await host.raw("HEAD", path)
                #expect(head.status == 200 && get.status == 200, "\(path)")
                #expect(head.body.isEmpty)
                #expect(head.header("content-length") == "\(get.body.utf8.count)")
                #expect(head.header("content-type") == get.header("content-type"))
            }
            let refused = try await host.raw("HEAD", "/companion/disconnect")
            #expect(refused.status == 405 && refused.body.isEmpty && refused.header("allow") == "POST")
            let stream = try await host.raw("HEAD", "/companion/chats/x/turns/y/events")
            #expect(stream.status == 405 && stream.body.isEmpty && stream.header("allow") == "GET")
        }
    }

    @Test("A client of HTTP/1.0 gets its answer in one piece, and then the end of the connection")
    func oldHTTP() async throws {
        try await withHost { host in
            try await host.pair()
            let port = host.port
            let body = #"{"prompt":"help","model":"builtin"}"#
            let requests = [
                "GET /health HTTP/1.0\r\n\r\n",
                "GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                "POST /companion/chats/x/continue HTTP/1.0\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)",
            ]
            for request in requests {
                let text = try await blocking {
                    let connection = try RawConnection(port: port)
                    try connection.send(request)
                    // To the end of the connection.
                    return connection.read()
                }
                let reply = try Reply(http: text)
                #expect(reply.status == 200 && reply.header("connection")?.hasSuffix("close") == true, "\(text)")
                #expect(reply.header("transfer-encoding") == nil)
                #expect(
                    reply.body.hasPrefix("{")
                        || reply.frames.last == .done(files: nil) && text.hasSuffix("data: [DONE]\n\n")
                )
            }
        }
    }

    @Test("A blank chat id is 400, as on deployed hosts", arguments: ["%20", "%09%20", "%0A"])
    func blankChat(id: String) async throws {
        try await withHost { host in
            try await host.pair()
            let reply = try await host.raw("GET", "/companion/chats/\(id)/messages")
            #expect(reply.status == 400 && reply.error == CompanionErrorResponse.Text.missingChatID)
        }
    }

    @Test("Malformed JSON on a disconnect is 400, and the device stays connected")
    func malformedDisconnect() async throws {
        try await withHost { host in
            try await host.pair()
            let refused = try await host.post("/companion/disconnect", #"{"a" 1}"#)
            #expect(refused.status == 400 && refused.error == "Malformed JSON")
            #expect(try await host.get("/companion/status").decoded(CompanionStatusResponse.self).connected)
            #expect(try await host.post("/companion/disconnect", "{}").status == 200)
            #expect(try await !host.get("/companion/status").decoded(CompanionStatusResponse.self).connected)
        }
    }

    @Test(
        "A number of seconds may come as a text, as on deployed hosts",
        arguments: [
            (#""120""#, 120), ("120", 120), (#"" 2.5e2 ""#, 250), (#""5""#, 60), (#""99999""#, 900), (#""x""#, 300),
            (#""0x78""#, 300), (#""""#, 300), ("null", 300),
        ]
    )
    func seconds(value: String, expected: Int) async throws {
        let clock = TestClock()
        try await withHost(clock: clock.hostClock) { host in
            let reply = try await host.post("/companion/pairing/start", #"{"ttlSeconds":\#(value)}"#)
            let start = try reply.decoded(PairingStartResponse.self)
            #expect(Int(start.expiresAt.timeIntervalSince(clock.now).rounded()) == expected)
        }
    }

    @Test(
        "Malformed JSON is a JSON 400 on any path that takes JSON, before the gate",
        arguments: ["{", "nonsense", "5", #"{"a" 1}"#]
    )
    func malformed(body: String) async throws {
        try await withHost { host in
            for path in ["/companion/pairing/complete", "/companion/chats/x/continue"] {
                let reply = try await host.post(path, body)
                #expect(reply.status == 400 && reply.error == "Malformed JSON", "\(path)")
            }
        }
    }

    @Test(
        "A body as large as may be passes and one byte more is 413, with and without a length",
        arguments: [
            ("/companion/chats/c/continue", 1 << 20, "Request body is over 1 MiB"),
            ("/companion/pairing/start", 8 << 10, "Request body is over 8 KiB"),
        ]
    )
    func bodySize(path: String, limit: Int, text: String) async throws {
        try await withHost { host in
            try await host.pair()
            let frame = #"{"prompt":"help","model":"builtin","a":""}"#
            let filler = String(repeating: "x", count: limit - frame.utf8.count)
            let full = String(frame.dropLast(2)) + filler + #""}"#
            #expect(try await host.post(path, full).status == 200)
            let reply = try await host.post(path, full + " ")
            #expect(reply.status == 413 && reply.error == text)
            let chunk = String(repeating: "x", count: 0x1000)
            let chunks = String(repeating: "1000\r\n\(chunk)\r\n", count: limit / 0x1000 + 1) + "0\r\n\r\n"
            let chunked = try await host.raw(
                "POST",
                path,
                headers: ["Host: localhost", "Transfer-Encoding: chunked", "Connection: close", "", chunks]
            )
            #expect(chunked.status == 413)
        }
    }

    @Test(
        "Foreign host names are refused, own names and addresses are not",
        arguments: [
            ("evil.example", 403), ("localhost.evil.example", 403), ("127.0.0.1.nip.io", 403), ("localhost:7878", 200),
            ("LOCALHOST", 200), ("127.0.0.1:7878", 200), ("192.168.1.7", 200), ("[::1]:7878", 200), ("[fe80::1]", 200),
        ]
    )
    func hostHeader(name: String, status: Int) async throws {
        try await withHost { host in
            let reply = try await host.raw("GET", "/health", headers: ["Host: \(name)"])
            #expect(reply.status == status)
            if status == 403 { #expect(reply.error == "This host answers to its own names and addresses only") }
        }
    }

    @Test("This machine's name is its own, with and without .local")
    func ownName() async throws {
        try await withHost { host in
            let name = machineName()
            for own in [name, name + ".local", name.uppercased() + ".local:7878"] {
                let reply = try await host.raw("GET", "/health", headers: ["Host: \(own)"])
                #expect(reply.status == 200, "\(own)")
            }
        }
    }

    @Test("A request from a web page is refused", arguments: ["http://evil.example", "null", "http://localhost"])
    func origin(origin: String) async throws {
        try await withHost { host in
            let reply = try await host.raw("GET", "/health", headers: ["Host: localhost", "Origin: \(origin)"])
            #expect(reply.status == 403 && reply.error == "Requests from web pages are refused")
        }
    }

    @Test("health, auth and models say who the host is, to anyone")
    func identity() async throws {
        try await withHost { host in
            let health = try await host.get("/health").decoded(CompanionHealthResponse.self)
            #expect(health.service == "pairtool-host" && health.version == "1.2.3" && health.isCompanion)
            #expect(try await host.get("/auth/status").decoded(CompanionAuthStatusResponse.self).authenticated)
            let models = try await host.get("/models").decoded(CompanionModelsResponse.self).models.elements
            #expect(models.map(\.id) == ["builtin"] && models.map(\.name) == ["Project explorer"])
        }
    }
}
