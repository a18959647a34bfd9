import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import Identity
import Testing

@testable import pairtool

/// Prompts that wait for a verified host: it runs each once, whatever breaks. Turns are counted at the host.
@Suite(.serialized, .timeLimit(.minutes(10))) struct VerifiedOutboxTests {
    /// A user's only chat at a host that is reached through a tunnel.
    private struct Line: Sendable {
        var chat: String
        var relay: CutRelay
        var events: HostEvents
        var user: Sandbox

        /// How many prompts the host has begun to answer.
        func turns() async -> Int { await events.all.count { $0["event"] == .text("turn_started") } }

        func queue(_ prompt: String) async {
            let queued = await user.run("send", chat, prompt, "--queue")
            #expect(queued.status == 0, "\(queued)")
        }

        /// The waiting prompts on the disk.
        func waiting() throws -> [WaitingPrompt] {
            let directory = user.directory + "/data/pairtool/outbox"
            return try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".json") }
                .flatMap { try OutboxStore(path: "\(directory)/\($0)").load().prompts }
        }

        /// What the user has said in the chat, as the host has it.
        func said() async throws -> [String] {
            try await user.run("messages", chat, "--all", "--json").json
                .filter { $0["role"] == .text("user") }.compactMap { $0["text"]?.string }
        }
    }

    private func withLine(_ body: @escaping @Sendable (Line) async throws -> Void) async throws {
        try await withVerifiedHost { events, _, user in
            let made = await user.run("send", "--new", "--project", "garden", "zero", "--json")
            let chat = try #require(made.json.last?["chatId"]?.string)
            try await withCutRelay(before: try await events.ports.secure) { relay in
                let endpoint = try #require(CompanionEndpoint("127.0.0.1:\(relay.port)"))
                try PairedHostStore(directory: user.directory + "/data/pairtool").update {
                    $0.hosts[0].endpoint = endpoint
                }
                #expect(await user.run("chats").status == 0)
                try await body(Line(chat: chat, relay: relay, events: events, user: user))
            }
        }
    }

    /// After how many bytes of the host its connection ends.
    private static let offsets = Array(stride(from: 0, through: 4000, by: 200))

    @Test("An answer that is lost anywhere, and a later process that sends the same bytes: the prompt runs once")
    func lostAnswers() async throws {
        try await withLine { line in
            var lost = 0
            for (index, offset) in Self.offsets.enumerated() {
                line.relay.close()
                await line.queue("prompt \(offset)")
                line.relay.open()
                line.relay.cut(after: offset, then: .gone)
                _ = await line.user.run("outbox", "send")
                let kept = try line.waiting()
                lost += kept.first?.command == nil ? 0 : 1
                line.relay.close()
                _ = await line.user.run("outbox", "send")
                #expect(try line.waiting().first?.command == kept.first?.command, "\(offset)")
                line.relay.open()
                _ = await line.user.run("outbox", "send")
                #expect(try line.waiting().isEmpty, "\(offset)")
                #expect(await line.turns() == index + 2, "\(offset)")
            }
            #expect(lost > 2, "answers were lost")
            #expect(try await line.said() == ["zero"] + Self.offsets.map { "prompt \($0)" })
        }
    }

    @Test("A process that is killed before or after the host has the command it kept: the prompt runs once")
    func killed() async throws {
        try await withLine { line in
            for (index, offset) in [0, 400, 800, 1200].enumerated() {
                line.relay.close()
                await line.queue("prompt \(offset)")
                line.relay.open()
                line.relay.cut(after: offset, then: .gone)
                let (_, result) = try await line.user.follow(["outbox", "send"]) { sender in
                    let end = ContinuousClock.now + .seconds(20)
                    while !line.relay.wasCut, .now < end { await Task.yield() }
                    #expect(line.relay.wasCut)
                    kill(sender.pid, SIGKILL)
                }
                #expect(result.status == 128 + SIGKILL, "\(result)")
                #expect(try line.waiting().map(\.state) == [.waiting])
                line.relay.open()
                let again = await line.user.run("outbox", "send")
                #expect(again.status == 0, "\(again)")
                #expect(try line.waiting().isEmpty)
                #expect(await line.turns() == index + 2, "\(offset)")
            }
        }
    }

    @Test("Two senders send each prompt once, in order")
    func twoSenders() async throws {
        try await withLine { line in
            line.relay.close()
            for prompt in ["one", "two", "three"] { await line.queue(prompt) }
            line.relay.open()
            async let first = line.user.spawn(["outbox", "send"])
            async let second = line.user.spawn(["outbox", "send"])
            _ = try await (first, second)
            #expect(try line.waiting().isEmpty)
            #expect(await line.turns() == 4)
            #expect(try await line.said() == ["zero", "one", "two", "three"])
        }
    }

    @Test("Prompts that wait for the same new chat get one chat, and so does the prompt after them")
    func newChat() async throws {
        try await withLine { line in
            try await line.user.atTerminal(["chat", "--new", "--project", "garden"]) { terminal in
                for word in ["one", "two"] {
                    try await terminal.shows("› ")
                    line.relay.close()
                    try await terminal.type("\(word)\r")
                    try await terminal.shows("Keep the prompt")
                    try await terminal.type("y\r")
                    try await terminal.shows("The prompt waits as")
                }
                try await terminal.shows("› ")
                line.relay.open()
                try await terminal.type("three\r")
                for _ in 1...2 { try await terminal.shows("Its answer: ") }
                try await terminal.shows("› ")
                try await terminal.type("\u{4}")
                #expect(try await terminal.status == 0)
            }
            #expect(try line.waiting().isEmpty)
            let turns = await line.events.all.filter { $0["event"] == .text("turn_started") }.dropFirst()
            #expect(turns.count == 3 && Set(turns.compactMap { $0["chatId"]?.string }).count == 1, "\(turns)")
        }
    }
}
