import AsyncHTTPClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import NIOCore
import Testing

@Suite("The numbered frames of a turn", .timeLimit(.minutes(15)))
struct TurnEventTests {
    private func path(_ turn: String, chat: String = "c") -> String { "/companion/chats/\(chat)/turns/\(turn)/events" }

    /// Asks and waits for the end of the turn.
    private func finishedTurn(_ host: TestHost, _ prompt: String = "list", model: String = "builtin") async throws
        -> String
    {
        _ = try await host.ask(prompt, chat: "c", model: model)
        return try await host.event { if case .turnFinished(_, let id, _) = $0 { id } else { nil } }
    }

    /// Starts a turn that goes on when its client has left.
    private func runningTurn(_ host: TestHost) async throws -> String {
        let port = host.port
        try await blocking {
            let body = #"{"prompt":"go","model":"command"}"#
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST /companion/chats/c/continue HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            #expect(connection.read(until: "first").contains("first"))
        }
        return try await host.event { if case .turnStarted(let turn) = $0 { turn.turnID } else { nil } }
    }

    private func events(_ host: TestHost, _ turn: String, after id: String? = nil) async throws -> Reply {
        let headers = ["Host: localhost"] + (id.map { ["Last-Event-ID: \($0)"] } ?? [])
        return try await host.raw("GET", path(turn), headers: headers)
    }

    /// The frames of a stream, each with its `id` line.
    private func pieces(_ body: String) -> [String] {
        body.components(separatedBy: "\n\n").filter { !$0.isEmpty && !$0.hasPrefix(":") }
    }

    @Test("Frames are numbered from 1, and a stream resumes behind each of them with exactly what is missing")
    func resumes() async throws {
        try await withHost { host in
            try await host.pair()
            try write("one\ntwo\n", to: host.project + "/file.txt")
            let turn = try await finishedTurn(host, "show file.txt:2")
            let reply = try await events(host, turn)
            #expect(reply.status == 200)
            #expect(reply.header("content-type") == "text/event-stream")
            #expect(
                reply.body == """
                    id: 1
                    data: {"type":"tool_start","toolName":"read_file","toolCallID":"call-1"}

                    id: 2
                    data: {"type":"text","text":"```\\n    2  two\\n```\\n"}

                    id: 3
                    data: {"type":"tool_complete","toolName":"read_file","toolCallID":"call-1","success":true,\
                    "details":"file.txt: lines 2-2 of 2"}

                    id: 4
                    data: {"type":"done"}

                    data: [DONE]


                    """
            )
            let all = pieces(reply.body)
            for number in 0...4 {
                let rest = try await events(host, turn, after: "\(number)")
                #expect(pieces(rest.body) == Array(all[number...]), "\(number)")
            }
        }
    }

    @Test("An error is followed by [DONE] too")
    func endAfterError() async throws {
        try await withHost {
            $0.agent = .command(["/bin/sh", "-c", "echo first; exit 3"])
        } _: { host in
            try await host.pair()
            let turn = try await finishedTurn(host, model: "command")
            let pieces = pieces(try await events(host, turn).body)
            #expect(pieces.count == 3)
            #expect(pieces.first == "id: 1\ndata: {\"type\":\"text\",\"text\":\"first\\n\"}")
            #expect(pieces.dropFirst().first?.hasPrefix("id: 2\ndata: {\"type\":\"error\"") == true)
            #expect(pieces.last == "data: [DONE]")
        }
    }

    @Test("A stream that is dropped does not end the turn, and resumes in its middle without loss or repetition")
    func resumesInTheMiddle() async throws {
        try await withTemporaryDirectory { directory in
            let gate = directory + "/gate"
            try makePipe(gate)
            try await withHost(in: directory) {
                $0.agent = .command(["/bin/sh", "-c", "echo first; cat '\(gate)'"])
            } _: { host in
                try await host.pair()
                let turn = try await runningTurn(host)
                let port = host.port
                let path = path(turn)
                try await blocking {
                    let connection = try RawConnection(port: port)
                    try connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    #expect(connection.read(until: "first").contains("id: 1\n"))
                }
                async let rest = events(host, turn, after: "1")
                try await blocking { try write("second\n", to: gate) }
                #expect(
                    pieces(try await rest.body) == [
                        "id: 2\ndata: {\"type\":\"text\",\"text\":\"second\\n\"}", "id: 3\ndata: {\"type\":\"done\"}",
                        "data: [DONE]",
                    ]
                )
            }
        }
    }

    @Test("After a crash of the host a stream has what was stored, and an error that says that the turn was cut off")
    func resumesAfterCrash() async throws {
        try await withTemporaryDirectory { directory in
            let copy = directory + "/copy"
            let turn = try await withHost(in: directory) {
                $0.agent = .command(["/bin/sh", "-c", "echo first; while :; do sleep 60; done"])
            } _: { host in
                try await host.pair()
                let turn = try await runningTurn(host)
                // What a host that was killed in this moment leaves behind.
                try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
                try await shell("cp -r '\(directory)/state' '\(copy)/state'")
                return turn
            }
            for _ in 0..<2 {
                try await withHost(in: copy) {
                    $0.projects = [directory + "/project"]
                } _: { host in
                    let all = pieces(try await events(host, turn).body)
                    #expect(
                        all == [
                            "id: 1\ndata: {\"type\":\"text\",\"text\":\"first\\n\"}",
                            "id: 2\ndata: {\"type\":\"error\",\"error\":\"\(TurnEventLog.interruptedText)\"}",
                            "data: [DONE]",
                        ]
                    )
                    for number in 0...2 {
                        let rest = try await events(host, turn, after: "\(number)")
                        #expect(pieces(rest.body) == Array(all[number...]), "\(number)")
                    }
                }
            }
        }
    }

    @Test("A silent stream has a comment every 15 seconds")
    func comments() async throws {
        let clock = TestClock()
        try await withHost(clock: clock.hostClock) {
            $0.agent = .command(["/bin/sh", "-c", "echo first; while :; do sleep 60; done"])
        } _: { host in
            try await host.pair()
            let turn = try await runningTurn(host)
            let port = host.port
            let path = path(turn)
            try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(connection.read(until: "first").contains("id: 1\n"))
                clock.advance(by: 14.9)
                for _ in 0..<3 {
                    // Chunks: a size, the comment.
                    clock.advance(by: TurnEventLog.heartbeat)
                    #expect(connection.read(until: "\n\n\r\n") == "4\r\n: \n\n\r\n")
                }
            }
        }
    }

    @Test("Unknown turns are 404, frames that do not exist are 400")
    func unknown() async throws {
        try await withHost { host in
            try await host.pair()
            let turn = try await finishedTurn(host)
            let missing = try await events(host, "no-such-turn")
            #expect(missing.status == 404 && missing.error == "Unknown turn")
            let elsewhere = try await host.get(path(turn, chat: "other"))
            #expect(elsewhere.status == 404 && elsewhere.error == "Unknown turn")
            for id in ["x", "-1", "1.5", "+1", "99", "18446744073709551616", "1 2"] {
                let reply = try await events(host, turn, after: id)
                #expect(
                    reply.status == 400 && reply.error == "Last-Event-ID is not the number of a frame of this turn",
                    "\(id)"
                )
            }
        }
    }

    @Test("Turns are kept for an hour after their end, and then removed")
    func pruning() async throws {
        let clock = TestClock()
        try await withHost(clock: clock.hostClock) { host in
            try await host.pair()
            let turn = try await finishedTurn(host)
            clock.advance(by: 3600)
            #expect(try await events(host, turn).status == 200)
            while try await events(host, turn).status == 200 { clock.advance(by: 60) }
            #expect(try await events(host, turn).status == 404)
        }
    }

    @Test("A client that does not read costs the others nothing, and has everything when it reads on")
    func slowClient() async throws {
        try await withTemporaryDirectory { directory in
            let gate = directory + "/gate"
            try makePipe(gate)
            let script = "echo first; cat '\(gate)'; head -c 6000000 /dev/zero | tr '\\0' x"
            try await withHost(in: directory) {
                $0.agent = .command(["/bin/sh", "-c", script])
            } _: { host in
                try await host.pair()
                let turn = try await runningTurn(host)
                let port = host.port
                let path = path(turn)
                let slow = try await blocking {
                    let slow = SlowReader(connection: try RawConnection(port: port))
                    try slow.connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    return slow
                }
                try await blocking { try write("go\n", to: gate) }
                let all = try await events(host, turn)
                #expect(all.body.utf8.count { $0 == UInt8(ascii: "x") } >= 6_000_000)
                let late = try await blocking { try Reply(http: slow.connection.read()) }
                #expect(pieces(late.body) == pieces(all.body))
            }
        }
    }
}

@Suite("Turns of devices of v2", .timeLimit(.minutes(15)))
struct SecureTurnTests {
    /// Says `first`, and then nothing.
    private static let silent = HostAgentKind.command(["/bin/sh", "-c", "echo first; while :; do sleep 60; done"])

    @Test("A turn that is cancelled ends with a frame that says so, and is told to whoever cancels it")
    func cancelled() async throws {
        try await withHostAndDevice {
            $0.agent = Self.silent
        } _: { host, device in
            try await device.pair()
            let (chat, turn) = try await device.startTurn()
            let waiting = try await device.execute(
                .chatSend(chatID: chat, prompt: "later", model: "command", allowedTools: nil)
            )
            let later = try #require(waiting.result["turnId"]?.string)
            for id in [later, turn] {
                let answer = try await device.execute(.chatCancel(chatID: chat, turnID: id)).result
                #expect(answer["turnId"]?.string == id && answer["state"]?.string == "cancelled")
                let reply = try await device.events(chat: chat, turn: id)
                #expect(reply.body.contains(TurnRunner.cancelledText))
                #expect(reply.body.hasSuffix("data: [DONE]\n\n"))
            }
            let again = try await device.execute(.chatCancel(chatID: chat, turnID: turn)).result
            #expect(again["state"]?.string == "cancelled")
            let told = try await host.event { if case .turnFinished(chat, turn, let state) = $0 { state } else { nil } }
            #expect(told == .cancelled)
        }
    }

    @Test("A stream of a device that is revoked is cut, though for the host's clock no time passes")
    func revoked() async throws {
        try await withHostAndDevice(clock: TestClock().hostClock) {
            $0.agent = Self.silent
        } _: { host, owner in
            try await owner.pair()
            let (chat, turn) = try await owner.startTurn()
            // The turn is another device's: it goes on, and only the stream ends.
            try await host.withDevice { reader in
                try await reader.pair()
                let (id, device) = (reader.id, reader)
                let stream = try await device.open("/companion/chats/\(chat)/turns/\(turn)/events")
                var body = stream.makeAsyncIterator()
                var text = ""
                while !text.contains("first"), let bytes = try await body.next() { text += String(buffer: bytes) }
                #expect(text.contains("id: 1\n"))
                _ = try await host.server.administration.revoke(id)
                do {
                    while let bytes = try await body.next() { text += String(buffer: bytes) }
                } catch {}
                #expect(!text.contains("[DONE]"))
                #expect(try await device.events(chat: chat, turn: turn).status >= 401)
            }
            let left = try await owner.execute(.chatCancel(chatID: chat, turnID: turn)).result
            #expect(left["state"]?.string == "cancelled")
        }
    }
}

@Suite("Many streams of one turn", .timeLimit(.minutes(15)), .serialized)
struct TurnFanOutTests {
    @Test("A thousand streams share the frames: less than 300 MB, and each gets every event")
    func thousand() async throws {
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
                }
                let turn = try await host.event { if case .turnStarted(let turn) = $0 { turn.turnID } else { nil } }
                let before = try residentSize()
                let readers = try await blocking {
                    let readers = try (0..<1000).map { _ in SlowReader(connection: try RawConnection(port: port)) }
                    for reader in readers {
                        try reader.connection.send(
                            "GET /companion/chats/c/turns/\(turn)/events HTTP/1.1\r\nHost: localhost\r\n"
                                + "Connection: close\r\n\r\n"
                        )
                    }
                    for reader in readers { #expect(reader.connection.read(until: "first").contains("id: 1\n")) }
                    return readers
                }
                #expect(try residentSize() - before < 300 << 20)
                try await blocking {
                    try write("second\n", to: gate)
                    let answers = readers.map { $0.connection.read(until: "second") }
                    for (reader, answer) in zip(readers, answers) {
                        #expect(answer.contains("id: 2\n"))
                        // The end may have come together with it.
                        #expect((answer + reader.connection.read()).contains("[DONE]"))
                    }
                }
            }
        }
    }

    /// Bytes of memory that this process has.
    private func residentSize() throws -> Int {
        let pages = try contents(of: "/proc/self/statm").split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return try #require(pages) * 4096
    }
}

private final class SlowReader: Sendable {
    let connection: RawConnection
    init(connection: consuming RawConnection) { self.connection = connection }
}
