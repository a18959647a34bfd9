import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import Testing

@testable import CompanionHost

@Suite("A command as the agent", .timeLimit(.minutes(15)))
struct CommandAgentTests {
    private func withAgent<Result: Sendable>(
        _ script: String,
        timeout: Duration = .seconds(20),
        _ body: (TestHost, String) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory) {
                $0.agent = .command(["sh", "-c", script])
                $0.turnTimeout = timeout
            } _: { host in
                try await host.pair()
                return try await body(host, directory)
            }
        }
    }

    private func stored(_ host: TestHost) async throws -> [String] {
        try await host.get("/companion/chats/chat-1/messages").decoded(CompanionMessagesPageResponse.self)
            .messages.elements.map(\.text)
    }

    @Test("It gets the prompt on standard input, and its project and chat from directory and environment")
    func environment() async throws {
        try await withAgent(#"cat; echo; pwd; echo "$PAIRTOOL_PROJECT $PAIRTOOL_CHAT_ID [$PAIRTOOL_ALLOWED_TOOLS]""#) {
            host,
            _ in
            let models = try await host.get("/models").decoded(CompanionModelsResponse.self).models.elements
            #expect(models.map(\.id) == ["command"] && models.map(\.name) == ["sh"])
            let reply = try await host.ask("Grüße 🚀", model: "command", tools: ["b", "a"])
            #expect(reply.answer == "Grüße 🚀\n\(host.project)\n\(host.project) chat-1 [a,b]\n")
            #expect(reply.body.hasSuffix("data: {\"type\":\"done\"}\n\ndata: [DONE]\n\n"))
        }
    }

    @Test("A large prompt and a large answer pass, and a command need not read its input")
    func large() async throws {
        try await withAgent("cat") { host, _ in
            let prompt = String(repeating: "0123456789", count: 90_000)
            let reply = try await host.ask(prompt, model: "command")
            #expect(reply.answer == prompt)
        }
        try await withAgent("echo ignored") { host, _ in
            let prompt = String(repeating: "0123456789", count: 90_000)
            let reply = try await host.ask(prompt, model: "command")
            #expect(reply.answer == "ignored\n")
        }
    }

    @Test("A character that is written in two pieces arrives whole, an invalid byte as U+FFFD")
    func split() async throws {
        try await withTemporaryDirectory { directory in
            let gate = directory + "/gate"
            try makePipe(gate)
            try await withHost(in: directory) {
                $0.agent = .command(["sh", "-c", #"printf 'a\360\237'; cat '\#(gate)'; printf '\232\200\377b\303'"#])
            } _: { host in
                try await host.pair()
                async let reply = host.ask("go", model: "command")
                // The first piece is out before the second can be written.
                try await blocking { try write("", to: gate) }
                #expect(try await reply.answer == "a🚀\u{fffd}b\u{fffd}")
            }
        }
    }

    @Test("A status other than 0 is an error frame behind what was said, without an end")
    func status() async throws {
        try await withAgent("echo partly; echo noise >&2; exit 3") { host, _ in
            let reply = try await host.ask("go", model: "command")
            #expect(
                reply.frames == [
                    .text("partly\n"), .failed(TurnFailure("The agent's command ended with status 3: noise")),
                ]
            )
            #expect(!reply.body.contains("[DONE]"))
            #expect(try await stored(host) == ["go", "partly\n"])
        }
    }

    @Test("A command that is silent for too long is ended with all that it started, TERM or no TERM")
    func timeout() async throws {
        let script = """
            trap '' TERM
            sh -c 'trap "" TERM; echo $$ >"$PAIRTOOL_PROJECT/grandchild"; echo ready; while :; do sleep 60; done' &
            echo $$ >"$PAIRTOOL_PROJECT/child"
            while :; do sleep 60; done
            """
        try await withAgent(script, timeout: .seconds(15)) { host, _ in
            let reply = try await host.ask("go", model: "command")
            #expect(reply.frames.last == .failed(TurnFailure("Copilot response timed out after 15000ms")))
            #expect(reply.answer == "ready\n")
            // The next turn of the chat begins when this one's processes are gone.
            _ = try await host.ask("again", model: "builtin")
            for name in ["child", "grandchild"] {
                let text = try String(contentsOfFile: "\(host.project)/\(name)", encoding: .utf8)
                let process = try #require(Int32(text.trimmingCharacters()))
                // SIGKILL was sent; the kernel may take a moment.
                try await eventually { !isAlive(process) }
            }
            #expect(try await stored(host) == ["go", "ready\n", "again"])
        }
    }

    @Test("A grandchild that outlives a leader that obeys TERM is ended too")
    func leaderFirst() async throws {
        let script = """
            sh -c 'trap "" TERM; echo $$ >"$PAIRTOOL_PROJECT/grandchild"; echo ready; while :; do sleep 60; done' &
            wait
            """
        try await withAgent(script, timeout: .seconds(15)) { host, _ in
            #expect(try await host.ask("go", model: "command").answer == "ready\n")
            _ = try await host.ask("again", model: "builtin")
            let text = try String(contentsOfFile: "\(host.project)/grandchild", encoding: .utf8)
            let process = try #require(Int32(text.trimmingCharacters()))
            // SIGKILL was sent; the kernel may take a moment.
            try await eventually { !isAlive(process) }
        }
    }

    /// A script's beginning that starts, in a session of its own and without a parent, what writes its number to a
    /// file and goes on for ever.
    private static func escape(_ file: String, ignoresTerm: Bool = false) -> String {
        let body = (ignoresTerm ? "trap : TERM; " : "") + "echo $$ >\(file).new; mv \(file).new \(file); "
        let loop = "while :; do sleep 1000; done"
        // The first has its parent yet, the second was orphaned by a fork of its own.
        return """
            setsid sh -c '\(body)\(loop)' </dev/null >/dev/null 2>&1 &
            setsid -f sh -c '\(body.replacing("\(file)", with: "\(file)2"))\(loop)' </dev/null >/dev/null 2>&1
            while ! [ -e \(file) ] || ! [ -e \(file)2 ]; do sleep 0.05; done

            """
    }

    private func processes(_ host: TestHost, _ files: String...) throws -> [Int32] {
        try files.map { file in
            let text = try String(contentsOfFile: "\(host.project)/\(file)", encoding: .utf8)
            return try #require(Int32(text.trimmingCharacters()))
        }
    }

    @Test("What left the command's session ends when the command ends, TERM or no TERM", arguments: [false, true])
    func escapedEnd(ignoresTerm: Bool) async throws {
        try await withAgent(Self.escape("away", ignoresTerm: ignoresTerm) + "echo done") { host, _ in
            let reply = try await host.ask("go", model: "command")
            #expect(reply.answer == "done\n" && reply.frames.last == .done(files: nil))
            #expect(try processes(host, "away", "away2").filter(isAlive) == [])
        }
    }

    @Test("What holds a command's output open does not hide its end, TERM or no TERM", arguments: [false, true])
    func heldOutput(ignoresTerm: Bool) async throws {
        let body = (ignoresTerm ? "trap : TERM; " : "") + "echo $$ >left.new; mv left.new left; "
        let script = """
            sh -c '\(body)while :; do sleep 1000; done' &
            while ! [ -e left ]; do sleep 0.05; done
            echo done
            """
        try await withAgent(script) { host, _ in
            let reply = try await host.ask("go", model: "command")
            #expect(reply.answer == "done\n" && reply.frames.last == .done(files: nil))
            #expect(try processes(host, "left").filter(isAlive) == [])
        }
    }

    @Test("What left the command's session ends with a turn that is ended, and another command's goes on")
    func escapedTimeout() async throws {
        let slow = Self.escape("away", ignoresTerm: true) + "echo ready; sleep 1000"
        let other = Self.escape("stays") + "echo ready; while ! [ -e go ]; do echo .; sleep 0.2; done"
        let script = "if [ \"$PAIRTOOL_CHAT_ID\" = slow ]; then\n\(slow)\nelse\n\(other)\nfi"
        try await withAgent(script, timeout: .seconds(15)) { host, _ in
            async let stays = host.ask("go", chat: "other", model: "command")
            try await eventually { FileManager.default.fileExists(atPath: host.project + "/stays2") }
            let reply = try await host.ask("go", chat: "slow", model: "command")
            #expect(reply.answer == "ready\n" && reply.frames.last != .done(files: nil))
            // The next turn of the chat begins when this one's processes are gone.
            _ = try await host.ask("again", chat: "slow", model: "builtin")
            #expect(try processes(host, "away", "away2").filter(isAlive) == [])
            let others = try processes(host, "stays", "stays2")
            #expect(others.filter(isAlive) == others)
            try write("", to: host.project + "/go")
            #expect(try await stays.frames.last == .done(files: nil))
            #expect(others.filter(isAlive) == [])
        }
    }

    @Test("What left the command's session ends with the host")
    func escapedShutdown() async throws {
        try await withTemporaryDirectory { directory in
            let script = Self.escape("away", ignoresTerm: true) + "echo ready; sleep 1000"
            let asked = try await withHost(in: directory) {
                $0.agent = .command(["sh", "-c", script])
            } _: { host in
                try await host.pair()
                let asking = Task { try await host.ask("go", model: "command") }
                // The two start at the same time: either file may be the last.
                try await eventually {
                    ["/away", "/away2"].allSatisfy { FileManager.default.fileExists(atPath: host.project + $0) }
                }
                let escaped = try processes(host, "away", "away2")
                #expect(escaped.filter(isAlive) == escaped)
                return (asking, escaped)
            }
            _ = try? await asked.0.value
            #expect(asked.1.filter(isAlive) == [])
        }
    }

    @Test("A process's line in /proc is read whatever its program is called")
    func processLine() throws {
        let rest = (20...52).map(String.init).joined(separator: " ")
        for name in ["sh", "a b", "x) S 1 1 1 (y", "", "\n"] {
            let line = "4711 (\(name)) S 7 8 9 " + (0..<15).map { _ in "0" }.joined(separator: " ") + " 12345 " + rest
            let entry = try #require(ProcessTable.parse(Array(line.utf8)))
            #expect(entry.id == 4711 && entry.parent == 7 && entry.group == 8 && entry.session == 9, "\(name)")
            #expect(entry.startedAt == 12345 && !entry.isZombie)
        }
        #expect(ProcessTable.parse([]) == nil && ProcessTable.parse(Array("1 (x) S".utf8)) == nil)
        let own = try #require(ProcessTable.now().entries.first { $0.id == getpid() })
        #expect(own.parent == getppid() && own.startedAt <= BootClock.ticks)
    }

    @Test("Output keeps a slow command alive: only silence counts")
    func slow() async throws {
        let script = "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 2; done"
        try await withAgent(script, timeout: .seconds(15)) { host, _ in
            let reply = try await host.ask("go", model: "command")
            #expect(reply.frames.last == .done(files: nil))
        }
    }

    @Test("An answer without end is cut off, and its command ended")
    func endless() async throws {
        try await withAgent("echo $$ >child; exec yes 0123456789012345678901234567890123456789") { host, _ in
            let reply = try await host.ask("go", model: "command")
            guard case .failed(let failure) = reply.frames.last else { throw TestFailure("no error") }
            #expect(failure.text.contains("8 MiB"))
            _ = try await host.ask("again", model: "builtin")
            let process = try String(contentsOfFile: "\(host.project)/child", encoding: .utf8)
            #expect(!isAlive(try #require(Int32(process.trimmingCharacters()))))
        }
    }

    @Test(
        "A command that does not exist stops the host before it starts",
        arguments: [
            ["no-such-command-anywhere"], ["/etc/passwd"], ["/tmp"], [""], [],
        ]
    )
    func missing(command: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let configuration = CompanionHostConfiguration(
                name: "",
                port: 0,
                projects: [directory],
                databasePath: directory + "/state/host.sqlite",
                agents: [.command(command)],
                version: ""
            )
            let error = #expect(throws: CompanionHostError.self) {
                try CompanionBridgeServer(configuration: configuration, logger: .silent)
            }
            #expect(error?.code == .agentNotFound)
        }
    }
}

extension String {
    func trimmingCharacters() -> String {
        String(drop(while: \.isWhitespace).prefix { !$0.isWhitespace })
    }
}
