import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import Markdown
import NIOConcurrencyHelpers
import TerminalScreen
import Testing

@testable import pairtool

/// An answer at a terminal, while it comes.
@Suite(.timeLimit(.minutes(1))) struct AnswerTests {
    /// A terminal, and a clock that goes on when the test says so.
    private final class Window: TextSink {
        let screen: NIOLockedValueBox<TerminalScreen>
        let size: NIOLockedValueBox<CommandContext.WindowSize>
        let now = NIOLockedValueBox(Date(timeIntervalSince1970: 0))

        init(columns: Int, rows: Int) {
            screen = NIOLockedValueBox(TerminalScreen(columns: columns, rows: rows))
            size = NIOLockedValueBox(CommandContext.WindowSize(columns: columns, rows: rows))
        }

        func write(_ bytes: UnsafeRawBufferPointer) {
            screen.withLockedValue { $0.write(Array(bytes)) }
        }

        func pass(_ seconds: Double) {
            now.withLockedValue { $0 += seconds }
        }

        var shown: String { screen.withLockedValue(\.shown) }
        var faults: [String] { screen.withLockedValue(\.faults) }

        var output: Output {
            var context = CommandContext.process
            (context.stdout, context.stderr) = (self, self)
            (context.stdoutIsTerminal, context.stderrIsTerminal, context.stdinIsTerminal) = (true, true, false)
            context.environment = ["TERM": "xterm"]
            context.windowSize = { [size] in size.withLockedValue(\.self) }
            context.now = { [now] in now.withLockedValue(\.self) }
            return Output(context: context, format: .text)
        }
    }

    private func end(_ answer: String) -> TurnOutput {
        .finished(ChatTurnSummary(answer: answer, usage: nil, wasRecovered: false, position: .start))
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
        writer.write(.toolStart(toolName: "read_file", toolCallID: "1"))
        writer.write(.usage(ContinueChatUsage(totalTokens: 1234)))
        window.pass(1)
        writer.write(.text(""))
        writer.write(.status("reading"))
        #expect(window.shown.hasSuffix("\n\n⠴ 5 s · ⚙ read_file · 1234 tokens"))
        writer.write(.toolComplete(toolName: "read_file", toolCallID: "1", success: true, details: "beds.md"))
        window.pass(1)
        writer.write(.text("Water\n    them"))
        #expect(
            window.shown
                == "Beds\n\nThey are dry.\n⚙ read_file done: beds.md\n\nWater them\n\n⠴ 6 s · reading · 1234 tokens"
        )
        writer.write(end("whatever"))
        #expect(
            window.shown
                == "Beds\n\nThey are dry.\n⚙ read_file done: beds.md\n\nWater them\n6 s · tools: read_file · 1234 tokens"
        )
        #expect(window.faults == [])
        #expect(writer.answer == "whatever")
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
        #expect(window.shown == "one\nAuto mode stops after this answer.\n\ntwo\n0 s\nafter")
        #expect(window.faults == [])
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

    @Test("A window that changes its width while the answer comes gets rows of the new width")
    func resize() {
        let window = Window(columns: 40, rows: 20)
        var writer = TurnWriter(output: window.output, chatID: "c")
        writer.write(.text("aaaa bbbb cccc dddd\n\naaaa bbbb cccc dddd"))
        // A terminal that is made wider leaves the rows as they are.
        window.size.withLockedValue { $0.columns = 10 }
        window.screen.withLockedValue { $0 = TerminalScreen(columns: 40, rows: 20) }
        window.pass(1)
        writer.write(.text(" eeee"))
        writer.write(end(""))
        #expect(window.shown.contains("aaaa bbbb\ncccc dddd\neeee"))
    }

    @Test("An answer that is cut off leaves nothing drawn", arguments: ["", "one\ntw", "```\na\nb"])
    func cutOff(text: String) {
        let window = Window(columns: 40, rows: 10)
        var writer = TurnWriter(output: window.output, chatID: "c")
        writer.write(.text(text))
        writer.write(.toolStart(toolName: "t", toolCallID: nil))
        writer.endLine()
        writer.endLine()
        #expect(!window.shown.contains("⠋") && !window.shown.contains("⚙"))
        #expect(window.faults == [])
    }

    @Test("What is not for people at a terminal with colours gets the text as it was sent")
    func plain() throws {
        func written(_ change: (inout Output) -> Void) -> String {
            let sink = LineSink()
            var output = Window(columns: 20, rows: 5).output
            (output.context.stdout, output.context.stderr) = (sink, LineSink())
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

    // MARK: The terminal's background

    @Test("The background is what the terminal answers, else what COLORFGBG says")
    func background() {
        #expect(TerminalBackground.theme(reply: Array("rgb:ffff/ffff/ffff".utf8)) == .light)
        #expect(TerminalBackground.theme(reply: Array("rgb:00/2b/36".utf8)) == .dark)
        #expect(TerminalBackground.theme(reply: Array("rgb:fffff/0/0".utf8)) == nil)
        #expect(TerminalBackground.theme(reply: Array("black".utf8)) == nil)
        #expect(TerminalBackground.theme(variable: "0;15") == .light)
        #expect(TerminalBackground.theme(variable: "0;default;7") == .light)
        #expect(TerminalBackground.theme(variable: "15;0") == .dark)
        #expect(TerminalBackground.theme(variable: "odd") == nil)
    }

    @Test("What is typed around the terminal's answer is told apart from it")
    func reply() {
        func taken(_ text: String) -> TerminalReply {
            var reply = TerminalReply()
            for byte in text.utf8 { reply.take(byte) }
            return reply
        }
        for end in ["\u{7}", "\u{1B}\\"] {
            let reply = taken("ab\u{1B}[A\u{1B}]11;rgb:1/2/3\(end)cd")
            #expect(reply.isComplete && reply.text == Array("rgb:1/2/3".utf8))
            #expect(reply.typed == Array("ab\u{1B}[Acd".utf8))
        }
        #expect(!taken("typed").isComplete)
        #expect(taken("typed").typed == Array("typed".utf8))
        #expect(taken("\u{1B}\u{1B}]11;x\u{7}").typed == [0x1B])
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
                let direct = try await run("--no-pager")
                #expect(direct.out == long.paged && direct.paged == "")
                let missing = try await run(pager: "/nonexistent/pager 2> /dev/null")
                #expect(missing.out == long.paged)
                let plain = try await run("--plain", "--last", "1")
                #expect(plain.out.contains("  # Title\n"))
            }
        }
    }
}
