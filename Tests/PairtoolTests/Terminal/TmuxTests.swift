import CompanionTestSupport
import CompanionWire
import Foundation
import Testing

@testable import pairtool

/// Chats in a terminal that others wrote, and what its window shows.
@Suite(.serialized, .timeLimit(.minutes(15))) struct TmuxTests {
    private static let chat = "\"$pairtool\" chat c-login --last 0"

    /// Starts a command in the shell.
    private static func start(_ command: String, in tmux: Tmux) async throws {
        try await tmux.type("clear; " + command)
        try await tmux.press("Enter")
    }

    /// Ends the chat, and sees that the shell has the terminal again as it was.
    private static func end(_ tmux: Tmux) async throws {
        try await tmux.press("C-d")
        try await tmux.shown("the shell") { $0.hasSuffix("\n$") }
        try await tmux.type("clear; stty -a | tr ' ' '\\n' | grep -x -e icanon -e echo -e isig")
        try await tmux.press("Enter")
        try await tmux.shown("the terminal's mode") { $0 == "isig\nicanon\necho\n$" }
    }

    @Test("Several lines are typed, changed in the middle, pasted and recalled")
    func input() async throws {
        try await withPairedMac { mac, user in
            let pasted = try user.file("pasted", Array("from\n\ta clipboard \u{1B}[31mred\nend".utf8))
            try await user.inTmux { tmux in
                try await Self.start(Self.chat, in: tmux)
                try await tmux.shows("›")
                try await tmux.type("one\\")
                try await tmux.press("Enter")
                try await tmux.type("bean")
                try await tmux.press("M-Enter")
                try await tmux.type("four")
                try await tmux.shows("› one\n  bean\n  four")
                try await tmux.press("Up", "End")
                try await tmux.type("s")
                try await tmux.press("Up", "Home")
                try await tmux.type("zero ")
                try await tmux.shows("› zero one\n  beans\n  four")
                try await tmux.press("Enter")
                try await tmux.shows("You said: zero one")
                try await tmux.paste(file: pasted)
                try await tmux.shows("from")
                try await tmux.press("Enter")
                try await tmux.shows("You said: from")
                try await tmux.shown("an empty prompt") { $0.hasSuffix("›") }
                try await tmux.press("Up", "Up", "Up", "Up")
                try await tmux.shown("the first prompt again") { $0.split(separator: "zero one").count > 3 }
                try await tmux.press("C-c")
                try await Self.end(tmux)
            }
            #expect(ChatInputTests.prompts(mac) == ["zero one\nbeans\nfour", "from\n\ta clipboard [31mred\nend"])
        }
    }

    @Test("A line that wraps is whole while the window gets narrower and wider")
    func resize() async throws {
        try await withPairedMac { mac, user in
            try await user.inTmux(columns: 60) { tmux in
                try await Self.start(Self.chat, in: tmux)
                try await tmux.shows("›")
                try await tmux.type("the quick brown fox jumps over the lazy dog, 日本語 too")
                try await tmux.shows("日本語 too")
                // tmux breaks rows anew by itself, and tells the program a moment later: only what is drawn with what is typed
                // then has the new width.
                for (columns, typed, rows) in [
                    (20, " 1", "› the quick brown fo\nx jumps over the laz\ny dog, 日本語 too 1"),
                    (33, " 2", "› the quick brown fox jumps over\nthe lazy dog, 日本語 too 1 2"),
                    (80, " 3", "› the quick brown fox jumps over the lazy dog, 日本語 too 1 2 3"),
                ] {
                    try await tmux.resize(columns: columns)
                    try await tmux.type(typed)
                    try await tmux.shows(rows)
                    // What tmux itself has moved out of the window when it broke the rows stays there.
                    let screen = try await tmux.screen(scrollback: false)
                    #expect(screen.split(separator: "brown").count == 2, "\(screen)")
                }
                try await tmux.press("Home")
                try await tmux.type("see: ")
                try await tmux.shows("› see: the quick")
                try await tmux.press("Enter")
                try await tmux.shows("You said: see: the quick")
                try await Self.end(tmux)
            }
            #expect(ChatInputTests.prompts(mac) == ["see: the quick brown fox jumps over the lazy dog, 日本語 too 1 2 3"])
        }
    }

    @Test("A window that gets narrower while a paragraph comes has each word once, and no line of what goes on")
    func narrower() async throws {
        func text(_ numbers: Range<Int>) -> String { numbers.map { "w\($0) " }.joined() }
        let all = text(100..<170)
        var script = FakeMacScript()
        script.turns = [
            FakeMacTurn(
                steps: [
                    .frame(FakeMacTurn.text(text(100..<150))), .hold("more"),
                    .frame(FakeMacTurn.text(text(150..<170))), .store, .end,
                ],
                answer: all
            )
        ]
        try await withPairedMac(script) { mac, user in
            try await user.inTmux(columns: 100) { tmux in
                try await Self.start("\"$pairtool\" send c-login write", in: tmux)
                try await tmux.shows("w149\n\n")
                try await tmux.resize(columns: 60)
                // The line below the paragraph is drawn again, with the new width.
                let before = try await tmux.screen()
                try await tmux.shown("another line") { $0 != before }
                mac.release("more")
                let screen = try await tmux.shown("the shell") { $0.contains("w169") && $0.hasSuffix("\n$") }
                let answer = screen.drop { $0 != "w" }.split(separator: "\n").dropLast().joined(separator: " ") + " "
                #expect(
                    answer.hasPrefix(all) && answer.dropFirst(all.count).allSatisfy { "0123456789 s".contains($0) },
                    "\(screen)"
                )
            }
        }
    }

    @Test("The help of a chat keeps its two columns in a narrow window")
    func help() async throws {
        try await withPairedMac { _, user in
            try await user.inTmux(columns: 60) { tmux in
                try await Self.start(Self.chat, in: tmux)
                try await tmux.shows("›")
                try await tmux.type("/help")
                try await tmux.press("Enter")
                let column = String(repeating: " ", count: 16)
                let rows = ["list the tools; allow one for the next", "prompt or from now on (always), or no more"]
                try await tmux.shows(rows.map { column + $0 }.joined(separator: "\n"))
                try await Self.end(tmux)
            }
        }
    }

    @Test("Ctrl-C drops a line, and asks the host to cancel an answer")
    func interrupt() async throws {
        try await Sandbox.with { place in
            let pipe = try await place.pipe("gate")
            try await withVerifiedHost(["--agent-command", "/bin/cat \(pipe)"]) { events, _, user in
                try await user.inTmux { tmux in
                    try await Self.start("\"$pairtool\" chat --project garden", in: tmux)
                    try await tmux.shows("›")
                    try await tmux.type("wrong")
                    try await tmux.shows("› wrong")
                    try await tmux.press("C-c")
                    try await tmux.type("dig")
                    try await tmux.shows("› dig")
                    try await tmux.press("Enter")
                    let started = try await events.first("turn_started")
                    try await tmux.press("C-c")
                    try await tmux.shows("Cancelled at the host.")
                    #expect(try await events.first("turn_finished")["turnId"] == started["turnId"])
                    try await Self.end(tmux)
                }
                let chat = try #require(try await user.run("chats", "--json").json.first?["id"]?.string)
                let texts = try await user.run("messages", chat, "--json").json.compactMap { $0["text"]?.string }
                #expect(texts == ["dig"])
            }
        }
    }

    @Test("An editor that fills the window gives the prompt back, and the window as it was")
    func editor() async throws {
        try await withPairedMac { mac, user in
            let editor = try user.file(
                "editor",
                Array(
                    """
                    printf '\\033[?1049h\\033[2J\\033[Hediting '; cat "$1"
                    IFS= read -r line; echo "$line" >>"$1"; printf '\\033[?1049l'

                    """.utf8
                )
            )
            try await user.inTmux(environment: ["VISUAL": "/bin/sh \(editor)"]) { tmux in
                try await Self.start(Self.chat, in: tmux)
                try await tmux.shows("›")
                for (keys, prompt) in [(["C-x", "C-e"], "› first draft and more"), ([], "› second draft and more")] {
                    if keys.isEmpty {
                        try await tmux.type("/edit second draft")
                        try await tmux.shows("second draft")
                        try await tmux.press("Enter")
                    } else {
                        try await tmux.type("first draft")
                        try await tmux.shows("› first draft")
                        for key in keys { try await tmux.press(key) }
                    }
                    try await tmux.shows("editing")
                    try await tmux.type(" and more")
                    try await tmux.press("Enter")
                    let screen = try await tmux.shows(prompt)
                    #expect(!screen.contains("editing"), "\(screen)")
                    try await tmux.press("Enter")
                    try await tmux.shows("You said: " + (keys.isEmpty ? "second" : "first"))
                }
                try await Self.end(tmux)
            }
            #expect(ChatInputTests.prompts(mac).count == 2)
        }
    }

    @Test("A document with every element looks as it was drawn to look", arguments: [40, 80, 200])
    func answer(columns: Int) async throws {
        let screens = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../MarkdownTests/Screens"
        )
        let document = try String(contentsOf: screens.appending(path: "document.md"), encoding: .utf8)
        let golden = try String(contentsOf: screens.appending(path: "text-\(columns).txt"), encoding: .utf8)
        var script = FakeMacScript()
        script.turns = [.answering(document, unitsPerFrame: 1)]
        try await withPairedMac(script) { _, user in
            try await user.inTmux(columns: columns) { tmux in
                try await Self.start("\"$pairtool\" send c-login write", in: tmux)
                let screen = try await tmux.shown("the shell") { $0.contains("note.") && $0.hasSuffix("\n$") }
                #expect(screen.contains(golden.trimmingCharacters(in: .newlines)), "\(screen)")
            }
        }
    }
}
