import CompanionHost
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@Suite("How many turns there are, and whose", .timeLimit(.minutes(15)))
struct TurnLimitTests {
    /// Says that it has started and waits for its end, which is noted in a file named after the chat.
    private static let agent = HostAgentKind.command([
        "/bin/sh", "-c", #"echo $$ >"$PAIRTOOL_CHAT_ID"; echo started; while :; do sleep 60; done"#,
    ])

    /// Turns that an agent with a program for each may run.
    private static let running = 8

    private func messages(_ host: TestHost, chat: String) async throws -> [String] {
        try await host.get("/companion/chats/\(chat)/messages")
            .decoded(CompanionMessagesPageResponse.self).messages.elements.map(\.text)
    }

    /// Sends a prompt, waits for a text in its answer, and goes away.
    private func leave(_ host: TestHost, chat: String, after text: String) async throws {
        let port = host.port
        try await blocking {
            let connection = try Self.ask(port, chat: chat)
            let answer = connection.read(until: text)
            guard answer.contains(text) else { throw TestFailure(answer) }
        }
    }

    /// Sends a prompt, says when a text is in its answer, and reads all of it.
    private func stay(
        _ host: TestHost,
        chat: String,
        after text: String,
        then notify: @escaping @Sendable () -> Void
    ) async throws -> Reply {
        let port = host.port
        return try await blocking {
            defer { notify() }
            let connection = try Self.ask(port, chat: chat, "Connection: close\r\n")
            let answer = connection.read(until: text)
            notify()
            return try Reply(http: answer + connection.read())
        }
    }

    private static func ask(_ port: Int, chat: String, _ headers: String = "") throws -> RawConnection {
        let body = #"{"prompt":"go","model":"command"}"#
        let connection = try RawConnection(port: port)
        try connection.send(
            "POST /companion/chats/\(chat)/continue HTTP/1.1\r\nHost: localhost\r\n\(headers)"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        return connection
    }

    @Test("Eight turns run and 64 wait, whatever their chats; more are refused")
    func limits() async throws {
        try await withHost {
            $0.agent = Self.agent
        } _: { host in
            try await host.pair()
            for index in 0..<Self.running { try await leave(host, chat: "r\(index)", after: "started") }
            for index in 0..<TurnRunner.waitingLimit { try await leave(host, chat: "w\(index)", after: "Waiting") }
            let refused = try await host.ask("go", chat: "more", model: "command")
            #expect(refused.status == 409 && refused.error == "Too many prompts wait at this host: try again later")
            #expect(TurnRunner.waitingLimit == 64)
            #expect(try await messages(host, chat: "w0").isEmpty)
            // The removal frees all places again.
            _ = try await host.post("/companion/disconnect", "")
            for _ in 0..<Self.running {
                let ok = try await host.event(\.turnEnd) == .finished
                #expect(!ok)
            }
            try await host.pair()
            try await leave(host, chat: "again", after: "started")
            #expect(try await messages(host, chat: "w63").isEmpty)
        }
    }

    @Test("A place that becomes free goes to a prompt that waits for another chat")
    func nextChat() async throws {
        try await withTemporaryDirectory { directory in
            let gate = directory + "/gate"
            try makePipe(gate)
            try await withHost(in: directory) {
                $0.agent = .command([
                    "/bin/sh", "-c", "echo started; case $PAIRTOOL_CHAT_ID in r*) cat '\(gate)'; esac",
                ])
            } _: { host in
                try await host.pair()
                for index in 0..<Self.running { try await leave(host, chat: "r\(index)", after: "started") }
                for index in 0..<3 { try await leave(host, chat: "w\(index)", after: "Waiting") }
                try await blocking { try write("more\n", to: gate) }
                var finished: Set<String> = []
                while finished.count < 3 {
                    finished.insert(
                        try await host.event { event -> String? in
                            if case .turnFinished(let chat, _, .finished) = event, chat.hasPrefix("w") {
                                chat
                            } else {
                                nil
                            }
                        }
                    )
                }
                #expect(finished == ["w0", "w1", "w2"])
            }
        }
    }

    enum Removal: String, CaseIterable, Sendable {
        case disconnect, revoke, newPairing
    }

    @Test(
        "The turns of a device that is removed end: running ones are stored, waiting ones do not start",
        arguments: Removal.allCases
    )
    func removed(by removal: Removal) async throws {
        try await withHost {
            $0.agent = Self.agent
        } _: { host in
            let status = try await host.pair(key: "one")
            try await withThrowingTaskGroup(of: Reply.self) { group in
                group.addTask { try await host.ask("go", chat: "a", model: "command") }
                _ = try await host.event { if case .turnStarted = $0 { true } else { nil } }
                try await leave(host, chat: "a", after: "Waiting")
                // Waiting for sure before the removal: after it, it would be a prompt of the new device.
                let waits = AsyncStream.makeStream(of: Void.self)
                group.addTask { try await stay(host, chat: "a", after: "Waiting") { waits.continuation.finish() } }
                for await _ in waits.stream {}
                let child = host.project + "/a"
                try await eventually { ((try? contents(of: child)) ?? "").hasSuffix("\n") }
                switch removal {
                case .disconnect: _ = try await host.post("/companion/disconnect", "")
                case .revoke:
                    let id = try #require(status.connectedDevice?.id)
                    _ = try await host.send("DELETE", "/companion/devices/\(id)")
                case .newPairing: try await host.pair(key: "two")
                }
                for try await reply in group {
                    #expect(reply.status == 200)
                    #expect(reply.frames.last == .failed(TurnFailure(TurnRunner.deviceGoneText)))
                    #expect(!reply.body.contains("[DONE]"))
                }
                _ = try await host.event(\.turnEnd)
                let process = try #require(Int32(try contents(of: child).trimmingCharacters()))
                #expect(!isAlive(process))
            }
            try await host.pair(key: "two")
            #expect(try await messages(host, chat: "a") == ["go", "started\n"])
        }
    }

    @Test("A device that pairs again keeps its turns")
    func pairsAgain() async throws {
        try await withTemporaryDirectory { directory in
            let gate = directory + "/gate"
            try makePipe(gate)
            try await withHost(in: directory) {
                $0.agent = .command(["/bin/sh", "-c", "echo started; cat '\(gate)'"])
            } _: { host in
                try await host.pair(key: "one")
                try await leave(host, chat: "a", after: "started")
                try await host.pair(key: "one")
                try await blocking { try write("more\n", to: gate) }
                #expect(try await host.event(\.turnEnd) == .finished)
                #expect(try await messages(host, chat: "a") == ["go", "started\nmore\n"])
            }
        }
    }
}
