import AsyncHTTPClient
import CompanionHost
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import NIOCore
import NIOHTTP1
import Testing

/// A request is authorised by what is true when it is whole, not by what was true when its head came.
@Suite("A body that is held back", .timeLimit(.minutes(15)))
struct HeldBodyTests {
    enum Change: String, CaseIterable, Sendable {
        case revocation, withdrawal, disconnection, sessionOver, deviceExpired

        var code: CompanionErrorCode {
            switch self {
            case .revocation: .deviceRevoked
            case .withdrawal: .permissionDenied
            case .disconnection, .sessionOver: .sessionExpired
            case .deviceExpired: .deviceExpired
            }
        }
    }

    private func bring(_ change: Change, to device: TestDevice, clock: TestClock) async throws {
        let administration = device.host.server.administration
        switch change {
        case .revocation: _ = try await administration.revoke(device.id)
        case .withdrawal: _ = try await administration.setPermissions([.chatCreate], of: device.id)
        case .disconnection: _ = try await device.send("POST", "/companion/disconnect")
        case .sessionOver: clock.advance(by: 86_401)
        case .deviceExpired: clock.advance(by: 3601)
        }
    }

    /// Sends the head and half of a body, lets something happen once the host has seen the head, and sends the rest.
    private func held(
        _ path: String,
        _ bytes: [UInt8],
        by device: TestDevice,
        clock: TestClock,
        meanwhile: () async throws -> Void
    ) async throws -> Reply {
        clock.advance(by: 1)
        let (parts, source) = AsyncStream.makeStream(of: ByteBuffer.self)
        var request = HTTPClientRequest(url: "https://127.0.0.1:\(device.host.tlsPort)\(path)")
        request.method = .POST
        request.headers.add(name: ProtocolVersion.header, value: "2")
        request.headers.add(name: "Authorization", value: "Bearer \(device.token ?? "")")
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .stream(parts, length: .known(Int64(bytes.count)))
        source.yield(ByteBuffer(bytes: bytes[..<(bytes.count / 2)]))
        async let answer = device.http.execute(request, timeout: .seconds(30))
        // The host notes when it hears of a device: it has let the head pass then.
        try await eventually { device.host.server.administration.devices().first?.lastSeenAt == clock.now }
        try await meanwhile()
        source.yield(ByteBuffer(bytes: bytes[(bytes.count / 2)...]))
        source.finish()
        let response = try await answer
        return Reply(
            status: Int(response.status.code),
            headers: response.headers.map { ($0.name.lowercased(), $0.value) },
            body: String(buffer: try await response.body.collect(upTo: 1 << 20))
        )
    }

    @Test(
        "A prompt is refused when its sender may not send it any more, and nobody is asked",
        arguments: Change.allCases
    )
    func prompt(change: Change) async throws {
        let clock = TestClock()
        try await withTemporaryDirectory { directory in
            let trace = directory + "/asked"
            try await withHostAndDevice(in: directory, clock: clock.hostClock) {
                $0.agent = .command(["/bin/sh", "-c", "echo asked >'\(trace)'"])
            } _: { _, device in
                try await device.pair(grant: PairingGrant(lifetime: change == .deviceExpired ? .seconds(3600) : nil))
                let body = #"{"prompt":"go","model":"command"}"#
                let device = device
                let reply = try await held(
                    "/companion/chats/c/continue",
                    Array(body.utf8),
                    by: device,
                    clock: clock
                ) { try await bring(change, to: device, clock: clock) }
                #expect([401, 403].contains(reply.status) && reply.code == change.code, "\(reply.body)")
                #expect(!FileManager.default.fileExists(atPath: trace))
            }
        }
    }

    @Test("A body that takes its time is taken while nothing has changed")
    func patience() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { _, device in
            try await device.pair()
            let body = #"{"prompt":"list","model":"builtin"}"#
            let reply = try await held(
                "/companion/chats/c/continue",
                Array(body.utf8),
                by: device,
                clock: clock
            ) { clock.advance(by: 80) }
            #expect(reply.status == 200 && reply.body.contains("[DONE]"))
        }
    }

    @Test(
        "A signed command of any size is refused in the same way, and makes nothing",
        arguments: [Change.revocation, .withdrawal, .disconnection, .deviceExpired]
    )
    func command(change: Change) async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) { host, device in
            try await device.pair(grant: PairingGrant(lifetime: change == .deviceExpired ? .seconds(3600) : nil))
            let project = try await device.firstProject()
            let made = try await device.command(.chatCreate(projectID: project, title: nil), now: clock.now)
            let chat = try made.result(as: CompanionChat.self).id
            let prompt = String(repeating: "x", count: 20_000)
            // Expired devices are told before their commands' times are looked at.
            let signed = try await device.sign(
                .chatSend(chatID: chat, prompt: prompt, model: nil, allowedTools: nil),
                now: clock.now + 1
            )
            let device = device
            let reply = try await held(
                "/companion/command",
                signed.body,
                by: device,
                clock: clock
            ) { try await bring(change, to: device, clock: clock) }
            #expect([401, 403].contains(reply.status) && reply.code == change.code, "\(reply.body)")
            var reader = try device.another(in: host.project + "/../reader")
            try await reader.pair()
            let page = try await reader.get("/companion/chats/\(chat)/messages")
            #expect(page.body.contains(#""messages":[]"#), "\(page.body.prefix(200))")
        }
    }

    @Test(
        "By v1 a prompt is refused when its device was disconnected or may not send any more",
        arguments: [true, false]
    )
    func legacy(isDisconnected: Bool) async throws {
        let clock = TestClock()
        try await withHost(clock: clock.hostClock) { host in
            try await host.pair()
            clock.advance(by: 1)
            let port = host.port
            let body = #"{"prompt":"go","model":"builtin"}"#
            let (steps, step) = AsyncStream.makeStream(of: Void.self)
            let gate = ThreadGate()
            try await withThrowingTaskGroup(of: Reply.self) { group in
                group.addTask {
                    try await blocking {
                        let connection = try RawConnection(port: port)
                        try connection.send(
                            "POST /companion/chats/c/continue HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n{"
                        )
                        step.yield()
                        gate.wait()
                        try connection.send(String(body.dropFirst()))
                        return try Reply(http: connection.read())
                    }
                }
                for await _ in steps { break }
                try await eventually { host.server.administration.devices().first?.lastSeenAt == clock.now }
                if isDisconnected {
                    #expect(try await host.post("/companion/disconnect", "{}").status == 200)
                } else {
                    let id = try #require(host.server.administration.devices().first?.id)
                    _ = try await host.server.administration.setPermissions([], of: id)
                }
                gate.open()
                let reply = try #require(try await group.next())
                #expect(reply.status == 403, "\(reply.body)")
            }
            try await host.pair(key: "another")
            #expect(try await host.get("/companion/chats/c/messages").body.contains(#""messages":[]"#))
        }
    }
}
