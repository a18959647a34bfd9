import Testing

@testable import pairtool

/// A chat whose session is ended by another command, as the built binary has it.
@Suite(.timeLimit(.minutes(15))) struct DisconnectedChatTests {
    @Test("After two commands that disconnect, a chat opens a new session unseen, as often as that happens")
    func twice() async throws {
        try await withVerifiedHost { _, _, user in
            try await user.atTerminal(["chat", "--project", "garden"]) { terminal in
                try await terminal.shows("› ")
                for round in 0..<3 {
                    // Each opens a session where there is none, and ends it: the token that is stored is over, too.
                    for _ in 0..<(round == 0 ? 0 : 2) {
                        let ended = try await user.spawn(["disconnect"])
                        #expect(ended.status == 0 && ended.out.contains("Disconnected from"), "\(ended)")
                    }
                    try await terminal.type("read README.md\r")
                    let said = try await terminal.shows("Roses and beans.")
                    #expect(!said.contains("pairtool pair"), "\(said)")
                    try await terminal.shows("› ")
                }
                try await terminal.type("\u{4}")
                #expect(try await terminal.status == 0)
            }
        }
    }
}
