import FoundationEssentials
import Testing

/// `pairtool chats cancel` with the built host and an agent that answers only when it is let.
@Suite(.serialized, .timeLimit(.minutes(15))) struct CancelCommandTests {
    /// A paired user of a host whose agent waits at a pipe.
    private func withWaitingAgent(
        _ body: @escaping @Sendable (_ events: HostEvents, _ host: Sandbox, _ user: Sandbox) async throws -> Void
    ) async throws {
        try await Sandbox.with { place in
            let pipe = try await place.pipe("gate")
            try await withVerifiedHost(["--agent-command", "/bin/cat \(pipe)"], body)
        }
    }

    @Test("The last turn that this machine began ends at the host, and whoever waits for it is told")
    func lastTurn() async throws {
        try await withWaitingAgent { events, _, user in
            async let sent = user.spawn(["send", "--new", "--project", "garden", "dig", "--json"])
            let started = try await events.first("turn_started")
            let chatID = try #require(started["chatId"]?.string)
            let cancelled = await user.run("chats", "cancel", chatID, "--json")
            #expect(cancelled.status == 0, "\(cancelled)")
            let row = try #require(try cancelled.json.first)
            #expect(row["turnId"] == started["turnId"] && row["chatId"] == started["chatId"])
            #expect(row["state"]?.string == "cancelled")
            #expect(try await events.first("turn_finished")["ok"] == .bool(false))
            let result = try await sent
            #expect(result.status == 1, "\(result)")
            // Once more is no error: it has ended.
            #expect(await user.run("chats", "cancel", chatID, "-q").out == (started["turnId"]?.string ?? "") + "\n")
        }
    }

    @Test("In the interactive chat, /cancel ends the turn that goes on at the host")
    func inChat() async throws {
        try await withWaitingAgent { events, _, user in
            async let sent = user.spawn(["send", "--new", "--project", "garden", "dig", "--json"])
            let started = try await events.first("turn_started")
            let chatID = try #require(started["chatId"]?.string)
            let chat = await user.run("chat", chatID, "--last", "0", stdin: "/cancel\n/quit\n")
            #expect(chat.status == 0, "\(chat)")
            #expect(chat.err.contains(": cancelled"), "\(chat)")
            #expect(try await events.first("turn_finished")["turnId"] == started["turnId"])
            #expect(try await sent.status == 1)
            // In a chat that has not begun there is nothing to end, and the chat goes on.
            let new = await user.run("chat", "--project", "garden", stdin: "/cancel\n/quit\n")
            #expect(new.status == 0 && new.err.contains("No turn was started"), "\(new)")
        }
    }

    @Test("A turn is ended by its id from another machine that may, and not by one that may only read")
    func namedTurn() async throws {
        try await withWaitingAgent { events, host, user in
            try await Sandbox.with { reader in
                try await Sandbox.with { other in
                    try await reader.pair(try await host.newChallenge(), as: "reader", ["--read-only"])
                    try await other.pair(try await host.newChallenge(), as: "other")
                    async let sent = user.spawn(["send", "--new", "--project", "garden", "dig", "--json"])
                    let started = try await events.first("turn_started")
                    let (chat, turn) = (started["chatId"]?.string ?? "", started["turnId"]?.string ?? "")
                    let refused = await reader.run("chats", "cancel", chat, turn, "--json")
                    #expect(refused.status == 9, "\(refused)")
                    #expect(await !events.has("turn_finished"))
                    // The other machine has begun none: it has to name the turn.
                    let unnamed = await other.run("chats", "cancel", chat, "--json")
                    #expect(unnamed.status == 3, "\(unnamed)")
                    let code = try unnamed.errorCode
                    #expect(code == "turn.none")
                    let ended = await other.run("chats", "cancel", chat, turn, "-q")
                    #expect(ended.status == 0 && ended.out == turn + "\n", "\(ended)")
                    #expect(try await events.first("turn_finished")["turnId"]?.string == turn)
                    #expect(try await sent.status == 1)
                    #expect(await other.run("chats", "cancel", chat, "nothing").status == 3)
                }
            }
        }
    }
}
