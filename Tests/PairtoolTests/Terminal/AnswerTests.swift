import CompanionClient
import CompanionTestSupport
import CompanionWire
import Foundation
import Glibc
import Logging
import Markdown
import NIOConcurrencyHelpers
import Terminal
import TerminalScreen
import Testing

@testable import pairtool

/// An answer at a terminal, while it comes.
@Suite(.timeLimit(.minutes(15))) struct AnswerTests {
    /// A terminal, and a clock that goes on when the test says so.
    private final class Window: TextSink {
        let screen: NIOLockedValueBox<TerminalScreen>
        let size: NIOLockedValueBox<TerminalContext.WindowSize>
        let now = NIOLockedValueBox(Date(timeIntervalSince1970: 0))

        init(columns: Int, rows: Int, reflows: Bool = true) {
            screen = NIOLockedValueBox(TerminalScreen(columns: columns, rows: rows, reflows: reflows))
            size = NIOLockedValueBox(TerminalContext.WindowSize(columns: columns, rows: rows))
        }

        func write(_ bytes: UnsafeRawBufferPointer) {
            screen.withLockedValue { $0.write(Array(bytes)) }
        }

        func pass(_ seconds: Double) {
            now.withLockedValue { $0 += seconds }
        }

        func resize(columns: Int) {
            size.withLockedValue { $0.columns = columns }
            screen.withLockedValue { $0.resize(columns: columns) }
        }

        var shown: String { screen.withLockedValue(\.shown) }
        var faults: [String] { screen.withLockedValue(\.faults) }

        var output: Output {
            var context = TerminalContext.process
            (context.stdout, context.stderr) = (self, self)
            (context.stdoutIsTerminal, context.stderrIsTerminal, context.stdinIsTerminal) = (true, true, false)
            context.environment = ["TERM": "xterm"]
            context.windowSize = { [size] in size.withLockedValue(\.self) }
            context.now = { [now] in now.withLockedValue(\.self) }
            context.drawing = TerminalDrawing()
            return Output(context: context, format: .text)
        }
    }

    private func end(_ answer: String) -> TurnEvent {
        .finished(FinishedTurn(answer: answer, usage: nil, wasRecovered: false))
    }

    @Test("The text grows above one line with the time, the tool and the tokens; at the end there is a summary instead")
    func turn() {
        let window = Window(columns: 40, rows: 10)
        var writer = TurnWriter(output: window.output, chatID: "c")
        writer.write(.status("thinking"))
        #expect(window.shown == "⠋ 0 s · thinking")
        window.pass(2)
        writer.write(.text("# Beds\n\nThey are **d"))
        #expect(window.shown == "Beds\n\nThey are **d\n\n⠋ 2 s · thinking")
        window.pass(1.5)
        writer.write(.text("ry**."))
        #expect(window.shown == "Beds\n\nThey are dry.\n\n⠴ 3 s · thinking")
        window.pass(1)
        writer.write(.toolStart(name: "read_file", id: "1"))
        window.pass(0.5)
        writer.write(.usage(TurnUsage(totalTokens: 1234)))
        #expect(window.shown.hasSuffix("\n\n⠋ 5 s · ⚙ read_file · 1234 tokens"))
        window.pass(0.5)
        writer.write(.status("reading"))
        #expect(window.shown.hasSuffix("\n\n⠴ 5 s · reading · 1234 tokens"))
        writer.write(.toolComplete(name: "read_file", id: "1", success: true, details: "beds.md"))
        window.pass(1)
        writer.write(.text("Water\n    them"))
        #expect(
            window.shown
                == "Beds\n\nThey are dry.\n⚙ read_file done: beds.md\n\nWater\nthem\n\n⠴ 6 s · reading · 1234 tokens"
        )
        writer.write(end("whatever"))
        #expect(
            window.shown
                == "Beds\n\nThey are dry.\n⚙ read_file done: beds.md\n\nWater\nthem\n6 s · tools: read_file · 1234 tokens"
        )
        #expect(window.faults == [])
    }

    @Test("Counts of tokens that are too large to be added leave the earlier count")
    func largeCounts() {
        var progress = TurnProgress()
        progress.count(TurnUsage(inputTokens: 12, outputTokens: 7))
        progress.count(TurnUsage(inputTokens: .max, outputTokens: .max))
        #expect(progress.summary(elapsed: 0) == "19 tokens" && progress.summary(elapsed: 2) == "2 s · 19 tokens")
        #expect(TurnProgress().summary(elapsed: 0.9) == nil)
    }

    @Test("The mode in which an agent works is below its answer, while it comes and at its end")
    func mode() throws {
        let window = Window(columns: 60, rows: 10)
        var writer = TurnWriter(output: window.output, chatID: "c")
        writer.write(.mode(try #require(AgentMode("YOLO (asks nothing)\u{1B}[2J"))))
        writer.write(.text("Done."))
        #expect(window.shown == "Done.\n\n⠋ 0 s · mode: YOLO (asks nothing)␛[2J")
        writer.write(end("Done."))
        #expect(window.shown == "Done.\nmode: YOLO (asks nothing)␛[2J")
        #expect(window.faults == [])
    }

    @Test("A message of somebody else stands above what is drawn")
    func message() {
        let window = Window(columns: 40, rows: 10)
        let output = window.output
        var writer = TurnWriter(output: output, chatID: "c")
        writer.write(.text("one\n\ntwo"))
        output.say("Auto mode stops after this answer.")
        #expect(window.shown == "one\nAuto mode stops after this answer.\n\ntwo\n\n⠋ 0 s")
        writer.write(end("one\n\ntwo"))
        output.say("after")
        #expect(window.shown == "one\nAuto mode stops after this answer.\n\ntwo\nafter")
        #expect(window.faults == [])
    }

    @Test("A message that comes after an answer was cut off is shown")
    func lateMessage() {
        let window = Window(columns: 40, rows: 10)
        let output = window.output
        do {
            var writer = TurnWriter(output: output, chatID: "c")
            writer.write(.text("one"))
        }
        output.say("after")
        #expect(window.shown.contains("after"))
        var writer = TurnWriter(output: output, chatID: "c")
        writer.write(.text("two"))
        writer.endLine()
        output.say("at the end")
        #expect(window.shown.hasSuffix("two\nat the end"))
    }

    @Test("A line of the log stands above what is drawn")
    func log() {
        let window = Window(columns: 100, rows: 10)
        let output = window.output
        var writer = TurnWriter(output: output, chatID: "c")
        writer.write(.text("one"))
        var handler = TerminalLogHandler(label: "client", context: output.context)
        handler.logLevel = .debug
        Logger(label: "client") { _ in handler }.warning("odd\u{1B}")
        #expect(window.shown == "1970-01-01T00:00:00.000Z warning client: odd␛\none\n\n⠋ 0 s")
        writer.write(end("one"))
        #expect(window.faults == [])
    }

    @Test("The first text after a pause does not wait for the line below it, and text that follows it does")
    func firstText() {
        let window = Window(columns: 40, rows: 10)
        var writer = TurnWriter(output: window.output, chatID: "c")
        writer.write(.text("one"))
        window.pass(1)
        writer.write(.status("thinking"))
        window.pass(0.001)
        writer.write(.text(" two"))
        #expect(window.shown.hasPrefix("one two\n"))
        window.pass(0.001)
        writer.write(.text(" three"))
        #expect(window.shown.hasPrefix("one two\n"))
        writer.write(end(""))
        #expect(window.shown.hasPrefix("one two three\n"))
    }

    @Test("An unfinished line of code is not there while the user is asked, and comes once")
    func questionInCode() async throws {
        let window = Window(columns: 40, rows: 10)
        let output = window.output
        var writer = TurnWriter(output: output, chatID: "c")
        writer.write(.text("```\na\nlet b"))
        await output.context.drawing.pause {
            #expect(window.shown == "  a")
            output.context.stderr.write("Really? ")
            output.context.stdout.write("\n")
        }
        window.pass(1)
        writer.write(.text(" = 1\n```"))
        writer.write(end(""))
        #expect(window.shown == "  a\nReally?\n  let b = 1\n1 s")
        #expect(window.faults == [])
    }

    @Test("The summary goes without colours to standard error that is no terminal")
    func summaryStyle() {
        let sink = TextBuffer()
        var output = Window(columns: 40, rows: 10).output
        (output.context.stderr, output.context.stderrIsTerminal) = (sink, false)
        var writer = TurnWriter(output: output, chatID: "c")
        writer.write(.usage(TurnUsage(totalTokens: 3)))
        writer.write(end("one"))
        #expect(sink.text == "3 tokens\n")
    }

    @Test("Who has answered by a key reads neither the answer nor the difference again; other answers are told")
    func answeredHere() {
        let window = Window(columns: 60, rows: 20)
        let output = window.output
        var writer = TurnWriter(output: output, chatID: "c")
        func decided(_ id: String, _ answer: String) -> TurnEvent {
            .question(
                ApprovalNotice(
                    .decided,
                    id: id,
                    title: "Edit",
                    kind: "edit",
                    state: .approved,
                    answer: answer,
                    decidedBy: "desk"
                )
            )
        }
        func edit(_ id: String, adding line: String) -> TurnEvent {
            let change = ToolReport.Change(path: "a", diff: "--- a\n+++ a\n@@ -1,0 +1,1 @@\n+\(line)\n")
            var tool = ToolReport(id: id, title: "Edit", kind: "edit", status: .completed, changes: [change])
            tool.asked = true
            return .tool(tool)
        }
        output.context.answers.insert("Yes", to: "q1")
        writer.write(decided("q1", "Yes"))
        writer.write(edit("t1", adding: "seen"))
        // A rule of the host has answered for this one.
        writer.write(edit("t2", adding: "unseen"))
        #expect(!window.shown.contains("desk") && !window.shown.contains("+seen"), "\(window.shown)")
        #expect(window.shown.contains("+unseen"), "\(window.shown)")
        // Somebody else was first.
        output.context.answers.insert("Yes", to: "q2")
        writer.write(decided("q2", "No"))
        writer.write(edit("t3", adding: "theirs"))
        #expect(window.shown.contains("desk") && window.shown.contains("+theirs"), "\(window.shown)")
        writer.write(end(""))
    }

    @Test("Nothing is drawn while the user is asked")
    func question() async throws {
        let window = Window(columns: 40, rows: 10)
        let output = window.output
        var writer = TurnWriter(output: output, chatID: "c")
        writer.write(.text("one"))
        await output.context.drawing.pause {
            #expect(window.shown == "one")
            output.context.stderr.write("Really? ")
            window.pass(1)
            writer.write(.text(" two"))
            #expect(window.shown == "one\nReally?")
            // The terminal shows the Enter.
            output.context.stdout.write("\n")
        }
        #expect(window.shown == "one\nReally?\n\ntwo\n\n⠋ 1 s")
        writer.write(end("one two"))
        #expect(window.shown == "one\nReally?\n\ntwo\n1 s")
        #expect(window.faults == [])
    }

    @Test(
        "A window that changes its width while the answer comes gets rows of the new width, and nothing twice",
        arguments: [true, false]
    )
    func resize(reflows: Bool) {
        let window = Window(columns: 40, rows: 20, reflows: reflows)
        var output = window.output
        if !reflows { output.context.environment["XTERM_VERSION"] = "XTerm(379)" }
        var writer = TurnWriter(output: output, chatID: "c")
        writer.write(.text("0000 1111 2222 3333\n\naaaa bbbb cccc dddd"))
        for columns in [10, 25, 12] {
            window.resize(columns: columns)
            window.pass(1)
            writer.write(.text(" e"))
        }
        writer.write(end(""))
        let above = reflows ? "0000 1111 22\n22 3333" : "0000 1111"
        #expect(window.shown.hasPrefix(above))
        #expect(window.shown.hasSuffix("\n\naaaa bbbb\ncccc dddd e\ne e\n3 s"))
        #expect(window.shown.components(separatedBy: "aaaa").count == 2)
        #expect(window.faults == [])
    }

    @Test("An answer that is cut off leaves nothing drawn", arguments: ["", "one\ntw", "```\na\nb"])
    func cutOff(text: String) {
        let window = Window(columns: 40, rows: 10)
        var writer = TurnWriter(output: window.output, chatID: "c")
        writer.write(.text(text))
        writer.write(.toolStart(name: "t", id: nil))
        writer.endLine()
        writer.endLine()
        #expect(!window.shown.contains("⠋") && !window.shown.contains("⚙"))
        #expect(window.faults == [])
    }

    @Test("What is not for people at a terminal with colours gets the text as it was sent")
    func plain() throws {
        func written(_ change: (inout Output) -> Void) -> String {
            let sink = TextBuffer()
            var output = Window(columns: 20, rows: 5).output
            (output.context.stdout, output.context.stderr) = (sink, TextBuffer())
            change(&output)
            var writer = TurnWriter(output: output, chatID: "c")
            writer.write(.text("# One\n**tw"))
            writer.write(.text("o**\u{1B}[1m"))
            writer.write(end(""))
            return sink.text
        }
        let text = "# One\n**two**␛[1m\n"
        #expect(written { $0.isPlain = true } == text)
        #expect(written { $0.context.stdoutIsTerminal = false } == text)
        #expect(written { $0.context.environment["NO_COLOR"] = "1" } == text)
        #expect(written { $0.context.environment["TERM"] = "dumb" } == text)
        #expect(written { $0 = Output(context: $0.context, format: .quiet) } == "")
        #expect(written { _ in } != text)
    }

    @Test("Links go to terminals that are known to show them")
    func links() {
        func hasLinks(_ environment: [String: String]) -> Bool {
            var context = Window(columns: 20, rows: 5).output.context
            context.environment = environment
            return context.hasLinks
        }
        #expect(!hasLinks(["TERM": "xterm-256color"]))
        #expect(hasLinks(["TERM": "xterm-256color", "VTE_VERSION": "7200"]))
        #expect(!hasLinks(["VTE_VERSION": "4800"]))
        #expect(hasLinks(["TERM": "foot"]) && hasLinks(["TERM_PROGRAM": "WezTerm"]))
        #expect(!hasLinks(["TMUX": "x", "KITTY_WINDOW_ID": "1"]))
        #expect(!hasLinks(["TMUX": "x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"]))
        #expect(hasLinks(["TMUX": "x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.4"]))
    }

    // MARK: The pager

    @Test(
        "Messages that do not fit the window go to the pager, rendered; others do not, and nothing does with --no-pager"
    )
    func pager() async throws {
        // A pager that cannot be run does not read, which must not end the tests.
        signal(SIGPIPE, SIG_IGN)
        var script = FakeMacScript()
        script.fill("c-login", count: 30)
        script.messages["c-login"]?[29].text = "# Title\n\n- **item**"
        script.messages["c-login"]?[29].role = .assistant
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let file = try user.file("shown", [])
                func run(_ arguments: String..., pager: String? = nil) async throws -> (out: String, paged: String) {
                    _ = try user.file("shown", [])
                    let environment = ["PAGER": pager ?? "cat > '\(file)'"]
                    let arguments = ["messages", "c-login"] + arguments
                    let result = await user.run(arguments, environment: environment, terminal: true)
                    #expect(result.status == 0, "\(result)")
                    return (result.out, try String(contentsOfFile: file, encoding: .utf8))
                }
                let long = try await run()
                #expect(long.out == "")
                #expect(long.paged.contains("Title") && !long.paged.contains("# Title"))
                #expect(long.paged.contains("  \u{1B}[2m• \u{1B}[0m\u{1B}[1mitem\u{1B}[0m"))
                let short = try await run("--last", "1")
                #expect(short.out.contains("Title") && short.paged == "")
                #expect(short.out.hasSuffix("item\u{1B}[0m\n"))
                let direct = try await run("--no-pager")
                #expect(direct.out == long.paged && direct.paged == "")
                let missing = try await run(pager: "/nonexistent/pager 2> /dev/null")
                #expect(missing.out == long.paged)
                // Whoever leaves the pager wants no more, and nothing waits for it.
                let left = try await run("--all", pager: "head -n 1 > '\(file)'")
                #expect(left.out == "" && left.paged.components(separatedBy: "\n").count == 2)
                let plain = try await run("--plain", "--last", "1")
                #expect(plain.out.contains("  # Title\n"))
            }
        }
    }
}
