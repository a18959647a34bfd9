import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import Testing

/// A prompt to a chat.
private func prompt(_ text: String, to chat: String, model: String? = nil) -> CommandPayload {
    .chatSend(chatID: chat, prompt: text, model: model, allowedTools: nil)
}

@Suite("Signed commands", .timeLimit(.minutes(15)))
struct SignedCommandTests {
    @Test("A device makes a project, a chat and a session, and sends a prompt to it")
    func wholeJob() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let made = try await device.command(.projectCreate(name: "Fresh one", localPath: nil))
            let project: CompanionProject = try made.result()
            #expect(try mode(of: project.localPath) == 0o700)
            let listed = try await device.get("/companion/projects").decoded(CompanionProjectsResponse.self)
            #expect(listed.projects.elements.contains { $0.id == project.id && $0.name == "Fresh one" })
            let chat = try await device.command(.chatCreate(projectID: project.id, title: "Talk"))
                .result(as: CompanionChat.self)
            #expect(chat.title == "Talk")
            let session = try await device.command(.sessionCreate(projectID: project.id))
            let sessionID = try #require(try session.value()["sessionId"]?.string)
            try await device.ask("help", chat: sessionID)
            let chats = try await device.get("/companion/projects/\(project.id)/chats")
                .decoded(CompanionChatsResponse.self).chats.elements
            #expect(Set(chats.map(\.title)) == ["Talk", "help"])
        }
    }

    @Test("A repeated command gives the stored result, also over a restart, and is executed once")
    func replay() async throws {
        try await withTemporaryDirectory { directory in
            let bodies = try await withHostAndDevice(in: directory) { host, device in
                try await device.pair()
                let project = try #require(try await device.projects().first)
                let create = try await device.sign(.chatCreate(projectID: project.id, title: "Once"))
                let first = try await device.send(create)
                let chat: CompanionChat = try first.result()
                let send = try await device.sign(prompt("help", to: chat.id))
                let sent = try await device.send(send)
                #expect(try !first.outcome().replayed && !sent.outcome().replayed)
                try await device.waitForTurn(sent, chat: chat.id)
                return [(create.body, first), (send.body, sent)]
            }
            try await withHostAndDevice(in: directory) { host, device in
                for (body, first) in bodies {
                    let again = try await device.send("POST", "/companion/command", body: body)
                    #expect(try again.outcome().replayed)
                    #expect(try again.value() == first.value())
                }
                let chat: CompanionChat = try bodies[0].1.result()
                try await device.pair()
                let page = try await device.get("/companion/chats/\(chat.id)/messages")
                    .decoded(CompanionMessagesPageResponse.self)
                #expect(page.messages.elements.count == 2)
                let project = try #require(try await device.projects().first)
                let chats = try await device.get("/companion/projects/\(project.id)/chats")
                    .decoded(CompanionChatsResponse.self).chats.elements
                #expect(chats.count == 1)
            }
        }
    }

    @Test("The same command at the same time is executed once", arguments: [true, false])
    func concurrentReplay(isPrompt: Bool) async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let chat = try await device.newChat()
            let command = try await device.sign(
                isPrompt
                    ? prompt("help", to: chat.id)
                    : .chatCreate(projectID: chat.projectId, title: "x")
            )
            let replies = try await withThrowingTaskGroup(of: Reply.self) { [device] group in
                for _ in 0..<8 { group.addTask { try await device.send(command) } }
                return try await group.reduce(into: [Reply]()) { $0.append($1) }
            }
            let answers = try replies.map { try $0.outcome() }
            #expect(answers.count { !$0.replayed } == 1)
            #expect(Set(answers.map { $0.result.bytes }).count == 1)
        }
    }

    @Test("An id with other bytes, and a nonce that was used, are conflicts")
    func conflicts() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let project = try #require(try await device.projects().first)
            let payload = CommandPayload.chatCreate(projectID: project.id, title: nil)
            let id = UUID()
            let nonce = SecureRandom.bytes(16)
            let first = try await device.send(try await device.sign(payload, id: id, nonce: nonce))
            let otherBytes = try await device.send(try await device.sign(payload, id: id))
            let otherID = try await device.send(try await device.sign(payload, nonce: nonce))
            #expect(first.status == 200)
            #expect(otherBytes.status == 409 && otherBytes.code == .commandConflict)
            #expect(otherID.status == 409 && otherID.code == .commandReplayed)
            #expect(otherID.failure?.serverTime != nil)
        }
    }

    @Test("The checks come in the protocol's order: of several faults the first one is told")
    func order() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair(permissions: [.projectCreate])
            let stranger = SecureKeyStore(directory: host.project + "/../stranger")
            _ = try stranger.identity()
            let now = Date()
            let send = prompt("x", to: "none")
            let used = SecureRandom.bytes(16)
            let id = UUID()
            let first = try await device.sign(.projectCreate(name: "a", localPath: nil), id: id, nonce: used)
            _ = try await device.send(first)

            func code(_ make: (inout TestCommand) -> Void) async throws -> CompanionErrorCode? {
                var command = TestCommand(
                    payload: send,
                    audience: try await device.hostID(),
                    id: id,
                    nonce: used,
                    now: now.addingTimeInterval(-1000)
                )
                command.keys = stranger
                command.deviceID = "0000000000000000"
                command.audience += "x"
                make(&command)
                return try await device.send("POST", "/companion/command", body: try command.body()).code
            }

            let badShape = try await code { $0.payload = prompt("", to: "") }
            let unknown = try await code { _ in }
            let audience = try await code { $0.deviceID = device.id }
            let hostID = try await device.hostID()
            let signature = try await code {
                $0.deviceID = device.id
                $0.audience = hostID
            }
            func right(_ command: inout TestCommand) {
                command.deviceID = device.id
                command.audience = hostID
                command.keys = device.keys
            }
            let expired = try await code { right(&$0) }
            let future = try await code {
                right(&$0)
                $0.now = now.addingTimeInterval(100)
            }
            let long = try await code {
                right(&$0)
                $0.now = now
                $0.lifetime = 301
            }
            let conflict = try await code {
                right(&$0)
                $0.now = now
            }
            let nonce = try await code {
                right(&$0)
                $0.now = now
                $0.id = UUID()
            }
            let permission = try await code {
                right(&$0)
                $0.now = now
                $0.id = UUID()
                $0.nonce = SecureRandom.bytes(16)
            }
            #expect(badShape == .commandBadShape)
            #expect(unknown == .deviceUnknown)
            #expect(audience == .commandWrongAudience)
            #expect(signature == .commandBadSignature)
            #expect(expired == .commandExpired)
            #expect(future == .commandBadTime)
            #expect(long == .commandBadTime)
            #expect(conflict == .commandConflict)
            #expect(nonce == .commandReplayed)
            #expect(permission == .permissionDenied)
        }
    }

    @Test("A thousand random changes of a command neither crash the host nor execute anything")
    func mutations() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let project = try #require(try await device.projects().first)
            let command = try await device.sign(.chatCreate(projectID: project.id, title: "never"))
            var random = SystemRandomNumberGenerator()
            var accepted = 0
            for _ in 0..<1000 {
                var body = command.body
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let place = Int.random(in: 0..<body.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: body[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                    case 1: body.remove(at: place)
                    default: body.insert(UInt8.random(in: 0x20..<0x7F, using: &random), at: place)
                    }
                }
                // White space between the members changes nothing that is signed.
                guard (try? CanonicalJSON(parsing: body).bytes) != command.body else { continue }
                let reply = try await device.send("POST", "/companion/command", body: body)
                #expect((400..<500).contains(reply.status) && reply.code != nil)
                if reply.status == 200 { accepted += 1 }
            }
            #expect(accepted == 0)
            let chats = try await device.get("/companion/projects/\(project.id)/chats")
                .decoded(CompanionChatsResponse.self).chats.elements
            #expect(chats.isEmpty)
        }
    }

    @Test("Every single bit of a signed command counts: with any of them changed nothing is executed")
    func singleBits() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let project = try #require(try await device.projects().first)
            let payload = CommandPayload.chatCreate(projectID: project.id, title: "once")
            let size = try await device.sign(payload).body.count
            let outcomes = try await withThrowingTaskGroup(of: [(bit: Int, status: Int)].self) { [device] group in
                // A few connections, each of which is used again and again.
                let lanes = 4
                for lane in 0..<lanes {
                    group.addTask {
                        var taken: [(bit: Int, status: Int)] = []
                        for byte in stride(from: lane, to: size, by: lanes) {
                            // On a busy machine a command would expire before all of its bits had their turn.
                            let body = try await device.sign(payload).body
                            try #require(body.count == size)
                            for bit in 0..<8 {
                                var changed = body
                                changed[byte] ^= 1 << UInt8(bit)
                                let reply = try await device.send("POST", "/companion/command", body: changed)
                                let isRefusal = (400..<500).contains(reply.status) && reply.code != nil
                                taken.append((byte * 8 + bit, isRefusal ? 0 : reply.status))
                            }
                        }
                        return taken
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(outcomes.count == size * 8)
            let taken = outcomes.filter { $0.status != 0 }
            #expect(taken.isEmpty, "bit and answer: \(taken.prefix(10))")
            func titles() async throws -> [String] {
                try await device.get("/companion/projects/\(project.id)/chats")
                    .decoded(CompanionChatsResponse.self).chats.elements.map(\.title)
            }
            #expect(try await titles().isEmpty)
            let whole = try await device.send(try await device.sign(payload))
            #expect(try !whole.outcome().replayed)
            #expect(try await titles() == ["once"])
        }
    }

    @Test("A nonce that was used is refused after a restart, too, whatever it comes with: commands and sessions")
    func noncesAreKept() async throws {
        try await withTemporaryDirectory { directory in
            let (command, session) = try await withHostAndDevice(in: directory) { host, device in
                try await device.pair()
                let project = try #require(try await device.projects().first)
                let nonce = SecureRandom.bytes(16)
                let first = try await device.sign(.chatCreate(projectID: project.id, title: "first"), nonce: nonce)
                let second = try await device.sign(.chatCreate(projectID: project.id, title: "second"), nonce: nonce)
                #expect(try await device.send(first).status == 200)
                let hostID = try await device.hostID()
                let request = try SessionRequest.make(audience: hostID, key: device.keys, now: Date())
                #expect(try await device.send("POST", "/companion/session", body: request.body).status == 200)
                return (second.body, request.body)
            }
            try await withHostAndDevice(in: directory) { host, device in
                let again = try await device.send("POST", "/companion/command", body: command)
                #expect(again.status == 409 && again.code == .commandReplayed, "\(again.body)")
                let opened = try await device.send("POST", "/companion/session", body: session)
                #expect(opened.status == 409 && opened.code == .sessionReplayed, "\(opened.body)")
                try await device.pair()
                let project = try #require(try await device.projects().first)
                let chats = try await device.get("/companion/projects/\(project.id)/chats")
                    .decoded(CompanionChatsResponse.self).chats.elements
                #expect(chats.map(\.title) == ["first"])
            }
        }
    }

    @Test("A permission that is taken away is missed by the next command, and one that is given is there")
    func permissions() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair(permissions: [.chatCreate])
            let project = try #require(try await device.projects().first)
            let payload = CommandPayload.chatCreate(projectID: project.id, title: nil)
            let before = try await device.command(payload)
            let isKnown = try await host.server.administration.setPermissions([.projectCreate], of: device.id)
            let after = try await device.command(payload)
            let given = try await device.command(.projectCreate(name: "new", localPath: nil))
            let continued = try await device.send(
                "POST",
                "/companion/chats/x/continue",
                body: Array(#"{"prompt":"help","model":"builtin"}"#.utf8)
            )
            #expect(isKnown)
            #expect(before.status == 200)
            #expect(after.status == 403 && after.code == .permissionDenied)
            #expect(given.status == 200)
            #expect(continued.code == .permissionDenied)
        }
    }

    @Test("A project stays where devices may have one, over links and dots and restarts")
    func projectPlaces() async throws {
        try await withTemporaryDirectory { directory in
            let inside = directory + "/project/inside"
            let outside = directory + "/outside"
            try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
            try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
            try link(outside, at: directory + "/project/escape")
            try await withHostAndDevice(in: directory) { host, device in
                try await device.pair()
                let escapes = [directory + "/project/escape", directory + "/project/../outside"]
                for path in escapes + [outside, "/etc", "x", "/"] {
                    let reply = try await device.command(.projectCreate(name: "p", localPath: path))
                    #expect(reply.code == .requestForbidden, "\(path)")
                }
                for name in [
                    "..", ".", "a/b", ".hidden", "a\nb", " ", "plain/\u{25CC}\u{301}inner", "plain/\u{301}inner",
                    "x\u{600}/../\u{301}y", ".\u{301}hidden", "\u{200D}/x",
                ] {
                    let reply = try await device.command(.projectCreate(name: name, localPath: nil))
                    #expect(reply.status == 400, "\(name)")
                }
                let made = try await device.command(.projectCreate(name: "in", localPath: inside))
                    .result(as: CompanionProject.self)
                #expect(made.localPath == inside)
                let later = directory + "/project/later"
                try FileManager.default.createDirectory(atPath: later, withIntermediateDirectories: true)
                for name in [" ", "a\nb", "a\u{1b}[31m", "a\u{2028}b", "a\u{202e}b"] {
                    let reply = try await device.command(.projectCreate(name: name, localPath: later))
                    #expect(reply.code == .requestInvalid, "\(name.debugDescription)")
                }
                let fresh = try await device.command(.projectCreate(name: "fresh", localPath: nil))
                let again = try await device.command(.projectCreate(name: "fresh", localPath: nil))
                #expect(fresh.status == 200 && again.status == 409)
            }
            try await withHostAndDevice(in: directory) { host, device in
                try await device.pair()
                #expect(Set(try await device.projects().map(\.name)) == ["project", "in", "fresh"])
            }
        }
    }

    @Test("Of two commands for the same project one makes it, and a repeated one makes nothing more")
    func projectOnce() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let payload = CommandPayload.projectCreate(name: "shared", localPath: nil)
            let commands = [try await device.sign(payload), try await device.sign(payload)]
            let replies = try await withThrowingTaskGroup(of: Reply.self) { [device] group in
                for command in commands + commands { group.addTask { try await device.send(command) } }
                return try await group.reduce(into: [Reply]()) { $0.append($1) }
            }
            #expect(replies.map(\.status).sorted() == [200, 200, 409, 409])
            #expect(try replies.filter { $0.status == 200 }.count { try $0.outcome().replayed } == 1)
            #expect(try await device.projects().count { $0.name == "shared" } == 1)
        }
    }

    @Test("A command that is refused makes no directory")
    func refusedProject() async throws {
        try await withTemporaryDirectory { directory in
            try await withHostAndDevice(in: directory) { host, device in
                try await device.pair()
                let nonce = SecureRandom.bytes(16)
                let made = try await device.send(
                    try await device.sign(.projectCreate(name: "made", localPath: nil), nonce: nonce)
                )
                let used = try await device.send(
                    try await device.sign(.projectCreate(name: "used", localPath: nil), nonce: nonce)
                )
                _ = try await host.server.administration.setPermissions([], of: device.id)
                let denied = try await device.command(.projectCreate(name: "denied", localPath: nil))
                #expect(made.status == 200)
                #expect(used.code == .commandReplayed)
                #expect(denied.code == .permissionDenied)
                let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/state/projects")
                #expect(names == ["made"])
            }
        }
    }

    @Test("A turn can be cancelled, twice, and only in its own chat")
    func cancel() async throws {
        try await withHostAndDevice(configure: { $0.agent = .command(["sleep", "60"]) }) { host, device in
            try await device.pair()
            let chat = try await device.newChat()
            let sent = try await device.command(prompt("x", to: chat.id))
            let turnID = try #require(try sent.value()["turnId"]?.string)
            let elsewhere = try await device.command(.chatCancel(chatID: "other", turnID: turnID))
            #expect(elsewhere.status == 404 && elsewhere.code == .turnUnknown)
            for _ in 0..<2 {
                let reply = try await device.command(.chatCancel(chatID: chat.id, turnID: turnID))
                #expect(try reply.value()["state"]?.string == "cancelled")
            }
        }
    }

    @Test("Unknown chats, projects and models are told")
    func unknown() async throws {
        try await withHostAndDevice { host, device in
            try await device.pair()
            let chat = try await device.newChat()
            let project = try await device.command(.chatCreate(projectID: "none", title: nil))
            let missing = try await device.command(prompt("x", to: "none"))
            let model = try await device.command(prompt("x", to: chat.id, model: "none"))
            #expect(project.code == .requestNotFound)
            #expect(missing.code == .requestNotFound)
            #expect(model.code == .requestInvalid)
        }
    }
}
