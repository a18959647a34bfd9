import CompanionHost
import CompanionWire
import FoundationEssentials
import Testing

@Suite("Continuing a chat", .timeLimit(.minutes(15)))
struct ContinueTests {
    private func messages(_ host: TestHost, chat: String = "chat-1") async throws -> [CompanionMessage] {
        try await host.get("/companion/chats/\(chat)/messages?limit=200")
            .decoded(CompanionMessagesPageResponse.self).messages.elements
    }

    @Test("An answer's frames are those of deployed hosts, byte for byte")
    func frames() async throws {
        try await withHost { host in
            try await host.pair()
            try write("one\ntwo\n", to: host.project + "/file.txt")
            let reply = try await host.raw(
                "POST",
                "/companion/chats/c/continue",
                body: #"{"prompt":"show file.txt:2","model":"builtin"}"#
            )
            #expect(reply.status == 200)
            #expect(reply.header("content-type") == "text/event-stream")
            #expect(reply.header("date") != nil)
            #expect(
                reply.body == """
                    data: {"type":"tool_start","toolName":"read_file","toolCallID":"call-1"}

                    data: {"type":"text","text":"```\\n    2  two\\n```\\n"}

                    data: {"type":"tool_complete","toolName":"read_file","toolCallID":"call-1","success":true,\
                    "details":"file.txt: lines 2-2 of 2"}

                    data: {"type":"done"}

                    data: [DONE]


                    """
            )
            #expect(try await messages(host, chat: "c").map(\.text) == ["show file.txt:2", "```\n    2  two\n```\n"])
        }
    }

    @Test("Without a known model there is one error frame and no end, and the prompt is stored", arguments: [nil, "x"])
    func model(id: String?) async throws {
        try await withHost { host in
            try await host.pair()
            let reply = try await host.ask("hello", model: id)
            #expect(reply.status == 200)
            #expect(reply.frames.count == 1)
            guard case .failed = reply.frames.first else { throw TestFailure(reply.body) }
            #expect(!reply.body.contains("[DONE]"))
            #expect(try await messages(host).map(\.text) == ["hello"])
        }
    }

    @Test("A blank chat id and a blank prompt have the texts of deployed hosts")
    func checks() async throws {
        try await withHost { host in
            try await host.pair()
            #expect(try await host.ask("help", chat: "%20").error == "Missing chat id")
            let blank = try await host.ask(" \n ")
            #expect(blank.status == 400 && blank.error == "Prompt is required")
            let none = try await host.send("POST", "/companion/chats/c/continue", body: "x", type: "text/plain")
            #expect(none.status == 400 && none.error == "Prompt is required")
            let long = try await host.ask("help", chat: String(repeating: "x", count: 201))
            #expect(long.status == 400)
            for id in ["%zz", "%ff", "a%00b", "%4"] {
                let reply = try await host.raw("POST", "/companion/chats/\(id)/continue", body: #"{"prompt":"x"}"#)
                #expect(reply.status == 400 && reply.error == "Malformed path", "\(id)")
            }
        }
    }

    @Test("projectPath stays inside the listed projects")
    func projectPath() async throws {
        try await withTemporaryDirectory { directory in
            try write("secret", to: directory + "/outside/secret.txt")
            try write("inside", to: directory + "/project/sub/file.txt")
            try write("near", to: directory + "/projectx/file.txt")
            try await withHost(in: directory) { host in
                try await host.pair()
                try link(directory + "/outside", at: directory + "/project/link")
                try link(directory + "/project/sub", at: directory + "/door")
                for path in [
                    "/", "/etc", directory, directory + "/outside", directory + "/project/../outside",
                    directory + "/project/link", directory + "/project/nothing", directory + "/projectx",
                    directory + "/project/sub/file.txt",
                ] {
                    let reply = try await host.ask("list", path: path)
                    #expect(
                        reply.status == 403 && reply.error == "projectPath is not inside a project of this host",
                        "\(path)"
                    )
                }
                #expect(try await host.ask("list", path: "project").status == 400)
                #expect(try await messages(host).isEmpty)
                for path in [directory + "/project/sub", directory + "/project/./sub/", directory + "/door"] {
                    let reply = try await host.ask("list", path: path)
                    #expect(reply.answer == "```\nfile.txt  6 B\n```\n", "\(path)")
                }
            }
        }
    }

    @Test("A client that goes away does not end its turn: the answer is stored")
    func dropped() async throws {
        try await withTemporaryDirectory { directory in
            let gate = directory + "/gate"
            try makePipe(gate)
            try await withHost(in: directory) {
                $0.agent = .command(["/bin/sh", "-c", "echo first; cat '\(gate)'"])
            } _: { host in
                try await host.pair()
                let port = host.port
                try await blocking {
                    let body = #"{"prompt":"go","model":"command"}"#
                    let connection = try RawConnection(port: port)
                    try connection.send(
                        "POST /companion/chats/c/continue HTTP/1.1\r\nHost: localhost\r\n"
                            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    )
                    #expect(connection.read(until: "first").contains("first"))
                    // The connection closes here, the turn waits at the pipe.
                }
                try await blocking { try write("second\n", to: gate) }
                let ok = try await host.event(\.turnEnd) == .finished
                #expect(ok)
                #expect(try await messages(host, chat: "c").map(\.text) == ["go", "first\nsecond\n"])
            }
        }
    }

    @Test("Turns of one chat run one after the other, turns of two chats at the same time")
    func serialised() async throws {
        try await withTemporaryDirectory { directory in
            let gate = directory + "/gate"
            try makePipe(gate)
            let script = #"read line; if [ "$line" = wait ]; then cat "\#(gate)"; else echo "$line"; fi"#
            try await withHost(in: directory) {
                $0.agent = .command(["/bin/sh", "-c", script])
            } _: { host in
                try await host.pair()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { _ = try await host.ask("wait\n", chat: "a", model: "command") }
                    _ = try await host.event { if case .turnStarted = $0 { true } else { nil } }
                    group.addTask {
                        let reply = try await host.ask("after\n", chat: "a", model: "command")
                        guard case .status = reply.frames.first else { throw TestFailure(reply.body) }
                        #expect(reply.answer == "after\n")
                    }
                    // The other chat does not wait for the pipe.
                    #expect(try await host.ask("other\n", chat: "b", model: "command").answer == "other\n")
                    #expect(try await messages(host, chat: "a").map(\.text) == ["wait\n"])
                    try await blocking { try write("opened\n", to: gate) }
                    try await group.waitForAll()
                }
                #expect(
                    try await messages(host, chat: "a").map(\.text) == ["wait\n", "opened\n", "after\n", "after\n"]
                )
            }
        }
    }
}
