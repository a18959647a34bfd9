import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@Suite("How much a device may have stored", .timeLimit(.minutes(15)))
struct QuotaTests {
    private func send(_ prompt: String, to chat: String, _ device: TestDevice, now: Date = Date()) async throws -> Reply
    {
        try await device.command(.chatSend(chatID: chat, prompt: prompt, model: nil, allowedTools: nil), now: now)
    }

    @Test("So many chats in 24 hours and no more, also after a restart; the owner hears which device it is")
    func chats() async throws {
        let clock = TestClock()
        try await withTemporaryDirectory { directory in
            var token: String?
            for isFirst in [true, false] {
                token = try await withHostAndDevice(in: directory, clock: clock.hostClock) {
                    $0.quota = DeviceQuota(chats: 3)
                } _: { [token] host, stranger in
                    var device = try stranger.another(in: directory + "/keys")
                    if isFirst { try await device.pair() } else { device.token = token }
                    let project = try await device.firstProject()
                    func create(_ device: TestDevice) async throws -> Reply {
                        try await device.command(.chatCreate(projectID: project, title: nil), now: clock.now)
                    }
                    if isFirst { for _ in 0..<3 { #expect(try await create(device).status == 200) } }
                    let refused = try await create(device)
                    #expect(refused.status == 429 && refused.code == .quotaExceeded)
                    #expect(refused.error?.contains("3 new chats and projects within 24 hours") == true)
                    #expect(refused.failure?.retryable == true)
                    let session = try await device.command(.sessionCreate(projectID: project), now: clock.now)
                    #expect(session.code == .quotaExceeded, "a session is a chat")
                    let told = try await host.event { event -> String? in
                        if case .quotaReached(let device, let what) = event { "\(device.id) \(what)" } else { nil }
                    }
                    #expect(told == "\(device.id) 3 new chats and projects within 24 hours")
                    guard !isFirst else { return device.token }
                    // Others have their own.
                    var other = try device.another(in: directory + "/others")
                    try await other.pair()
                    let made = try await other.command(.chatCreate(projectID: project, title: nil), now: clock.now)
                    #expect(made.status == 200)
                    clock.advance(by: 86_400)
                    device.token = try await device.openSession(now: clock.now).decoded(SessionGrant.self).token
                    #expect(try await create(device).status == 200)
                    return device.token
                }
            }
        }
    }

    @Test("New projects count as chats; one that is listed already is not made again")
    func projects() async throws {
        try await withHostAndDevice {
            $0.quota = DeviceQuota(chats: 2)
        } _: { host, device in
            try await device.pair()
            let listed = try await device.command(.projectCreate(name: "Garden", localPath: host.project))
            for name in ["one", "two"] {
                #expect(try await device.command(.projectCreate(name: name, localPath: nil)).status == 200)
            }
            let made = try await device.get("/companion/projects").decoded(CompanionProjectsResponse.self).projects
            let path = try #require(made.elements.first { $0.name == "two" }?.localPath)
            let refused = try await device.command(.projectCreate(name: "three", localPath: nil))
            #expect(refused.status == 429 && refused.code == .quotaExceeded)
            #expect(refused.error?.contains("2 new chats and projects within 24 hours") == true)
            let left = try FileManager.default.contentsOfDirectory(atPath: String(path.dropLast("/two".utf8.count)))
            #expect(left.sorted() == ["one", "two"], "what was refused leaves no directory")
            try await shell("mkdir '\(host.project)/inside'")
            let inside = try await device.command(.projectCreate(name: "in", localPath: host.project + "/inside"))
            #expect(inside.code == .quotaExceeded)
            for again in [host.project, path] {
                #expect(try await device.command(.projectCreate(name: "again", localPath: again)).status == 200)
            }
            #expect(listed.status == 200)
        }
    }

    @Test("Prompts and their answers count, each with 1 KiB more, by v2's continue too")
    func messages() async throws {
        try await withHostAndDevice {
            // Two prompts and their answers.
            $0.quota = DeviceQuota(bytes: 5 << 10)
            $0.agent = .command(["/bin/sh", "-c", "echo yes"])
        } _: { _, device in
            try await device.pair()
            let chat = try await device.newChat()
            for _ in 0..<2 { try await device.waitForTurn(send("list", to: chat.id, device), chat: chat.id) }
            let refused = try await send("list", to: chat.id, device)
            #expect(refused.code == .quotaExceeded)
            #expect(refused.error?.contains("5 KiB of messages within 24 hours") == true)
            let body = ContinueChatRequest(prompt: "list", projectPath: nil, model: "command", allowedTools: nil)
            let continued = try await device.post("/companion/chats/\(chat.id)/continue", body)
            #expect(continued.status == 429 && continued.code == .quotaExceeded)
            #expect(try await device.get("/companion/chats/\(chat.id)/messages").status == 200, "reading goes on")
        }
    }

    @Test("So many bytes in 24 hours; a day later there may be more")
    func bytes() async throws {
        let clock = TestClock()
        try await withHostAndDevice(clock: clock.hostClock) {
            $0.quota = DeviceQuota(bytes: 40 << 10)
            $0.agent = .command(["/bin/sh", "-c", "echo yes"])
        } _: { _, device in
            try await device.pair()
            let project = try await device.firstProject()
            let made = try await device.command(.chatCreate(projectID: project, title: nil), now: clock.now)
            let chat = try made.result(as: CompanionChat.self).id
            let prompt = String(repeating: "x", count: 15 << 10)
            func ask(_ device: TestDevice) async throws -> Reply {
                let sent = try await send(prompt, to: chat, device, now: clock.now)
                if sent.status == 200 { try await device.waitForTurn(sent, chat: chat) }
                return sent
            }
            for _ in 0..<2 { #expect(try await ask(device).status == 200) }
            let refused = try await ask(device)
            #expect(refused.code == .quotaExceeded && refused.failure?.retryable == true)
            #expect(refused.error?.contains("40 KiB of messages within 24 hours") == true, "\(refused.body)")
            clock.advance(by: 86_400)
            device.token = try await device.openSession(now: clock.now).decoded(SessionGrant.self).token
            #expect(try await ask(device).status == 200)
        }
    }

    @Test("What was refused for another reason does not count")
    func refusals() async throws {
        try await withHostAndDevice {
            $0.quota = DeviceQuota(chats: 1, bytes: 2 << 10)
        } _: { _, device in
            try await device.pair()
            for _ in 0..<3 {
                let missing = try await device.command(.chatCreate(projectID: "none", title: nil))
                #expect(missing.code == .requestNotFound)
            }
            let chat = try await device.newChat()
            for _ in 0..<3 {
                let unknown = try await device.command(
                    .chatSend(chatID: chat.id, prompt: "x", model: "none", allowedTools: nil)
                )
                #expect(unknown.code == .requestInvalid)
            }
            try await device.ask("list", chat: chat.id)
        }
    }

    @Test("A prompt that a busy chat refuses does not count, whichever way it came")
    func busy() async throws {
        try await withHostAndDevice {
            // Sixteen prompts.
            $0.quota = DeviceQuota(bytes: 17 << 10)
            $0.agent = .command(["/bin/sh", "-c", "exec sleep 600"])
        } _: { _, device in
            try await device.pair()
            let chat = try await device.newChat()
            var codes: [CompanionErrorCode?] = []
            for _ in 0..<28 { codes.append(try await send("go", to: chat.id, device).code) }
            #expect(codes.first == .some(nil) && codes.last == .chatBusy && !codes.contains(.quotaExceeded))
            let body = ContinueChatRequest(prompt: "go", projectPath: nil, model: "command", allowedTools: nil)
            for _ in 0..<16 {
                let continued = try await device.post("/companion/chats/\(chat.id)/continue", body)
                #expect(continued.status == 409 && continued.code == .chatBusy)
            }
        }
    }

    @Test("By v1 a device has the same limits")
    func legacy() async throws {
        try await withHost {
            $0.quota = DeviceQuota(chats: 2)
        } _: { host in
            try await host.pair()
            for number in 1...2 { #expect(try await host.ask("list", chat: "chat-\(number)").status == 200) }
            let refused = try await host.ask("list", chat: "chat-3")
            #expect(refused.status == 429 && refused.error?.contains("2 new chats") == true)
            #expect(try await host.ask("list", chat: "chat-1").status == 200)
        }
    }

    @Test("By default nobody fills a disk in a day, nor is anyone stopped who types")
    func usual() async throws {
        try await withHostAndDevice {
            #expect($0.quota == .usual)
            #expect($0.quota.bytes.map { (10 << 20...33 << 20).contains($0) } == true)
            #expect($0.quota.chats.map { (100...1000).contains($0) } == true)
        } _: { _, device in
            try await device.pair()
            let chat = try await device.newChat()
            #expect(try await send(String(repeating: "x", count: 1_000_000), to: chat.id, device).status == 200)
        }
    }
}
