import CompanionTestSupport
import CompanionWire
import Testing

@testable import pairtool

/// `pairtool chat` at a terminal, key by key.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ChatTerminalTests {
    @Test(
        "Ctrl-C during an answer stops waiting for it and no more: the next prompt is answered, and the chat ends well"
    )
    func interrupt() async throws {
        var script = FakeMacScript()
        script.turns = [
            FakeMacTurn(
                steps: [.frame(FakeMacTurn.text("begun")), .hold("turn"), .store, .end],
                answer: "begun and done"
            )
        ]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                try await user.atTerminal(["chat", "c-login"]) { terminal in
                    try await terminal.shows("› ")
                    try await terminal.type("first\r")
                    try await terminal.shows("begun")
                    try await mac.reached("turn")
                    try await terminal.type("\u{3}")
                    try await terminal.shows("Stopped waiting. The host finishes the answer;")
                    try await terminal.shows("› ")
                    mac.release("turn")
                    try await terminal.type("second\r")
                    try await terminal.shows("You said: second")
                    try await terminal.shows("› ")
                    try await terminal.type("\u{4}")
                    // The shell's prompt comes in a line of its own.
                    try await terminal.shows("\n")
                    #expect(try await terminal.status == 0)
                }
                #expect(
                    mac.messages(of: "c-login").map(\.text) == [
                        "first", "begun and done", "second", "You said: second",
                    ]
                )
            }
        }
    }

    @Test("Arrow-Up brings back the prompt before, to be changed and sent again")
    func history() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                try await user.atTerminal(["chat", "c-login"]) { terminal in
                    for prompt in ["one", "two"] {
                        try await terminal.shows("› ")
                        try await terminal.type(prompt + "\r")
                        try await terminal.shows("You said: \(prompt)")
                    }
                    try await terminal.shows("› ")
                    try await terminal.type("\u{1B}[A")
                    try await terminal.shows("two")
                    try await terminal.type("\u{1B}[A")
                    try await terminal.shows("one")
                    try await terminal.type(" more\r")
                    try await terminal.shows("You said: one more")
                    try await terminal.shows("› ")
                    try await terminal.type("/quit\r")
                    #expect(try await terminal.status == 0)
                }
                let prompts = mac.messages(of: "c-login").filter { $0.role == .user }.map(\.text)
                #expect(prompts == ["one", "two", "one more"])
            }
        }
    }
}
