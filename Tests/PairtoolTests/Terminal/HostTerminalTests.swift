import CompanionApp
import CompanionHost
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import PairingAgent
import QRCodec
import Terminal
import Testing

@testable import pairtool

/// What `pairtool host` and `pairtool pair` show at a terminal.
@Suite(.serialized, .timeLimit(.minutes(15))) struct HostTerminalTests {
    /// The code that the terminal shows next: in digits, and in the QR code above them.
    private func code(_ terminal: Terminal) async throws -> PairingPayload {
        let drawing = try await terminal.shows("Pairing code:  ")
        let digits = try await terminal.shows("  (").filter { $0 != " " }
        let bytes = try readHalfBlocks(drawing)
        guard case .pairing(let payload) = QRContent(bytes) else {
            throw AppError(.failed, "test", "no pairing code: \(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(payload.code == digits, "the digits are those of the picture")
        let words = try await terminal.shows(")")
        #expect(words == SpokenCode.spoken(digits))
        return payload
    }

    /// Waits until a countdown has shown two times at least.
    private func counts(_ terminal: Terminal) async throws {
        try await terminal.shown("two times of a countdown") { shown in
            Set(shown.matches(of: /valid for ([0-9]:[0-9][0-9])/).map { String($0.output.1) }).count >= 2
        }
    }

    @Test(
        "A host shows the QR code, the digits and the time left, until a device is paired; then c shows a code"
    )
    func host() async throws {
        try await withProject { host, user in
            let arguments = [
                "host", "--name", "Shed", "--project", host.directory + "/garden", "--port", "0", "--engine",
                "embedded",
            ]
            try await host.atTerminal(arguments) { terminal in
                try await terminal.shows("Shed listens on port ")
                let port = try await terminal.shows(" for HTTPS")
                let first = try await code(terminal)
                try await terminal.shows("valid for 4:5")
                try await counts(terminal)
                try await user.pair(first.text)
                try await terminal.shows("Paired: desk (")
                try await terminal.shows("Press c for a pairing code")
                try await terminal.type("c")
                let second = try await code(terminal)
                #expect(second.code != first.code && second.token != first.token)
                // As somebody does who guesses.
                let wrong = second.code == "000000" ? "000001" : "000000"
                try await Sandbox.with { other in
                    for _ in 0..<3 {
                        let pair = ["pair", "--url", "https://127.0.0.1:\(port)", "--code-stdin"]
                        let guessed = await other.run(pair, stdin: wrong + "\n")
                        #expect(guessed.status == 6, "\(guessed)")
                    }
                }
                try await terminal.shows("Three wrong codes: this code is no longer valid.")
                try await terminal.shows("Press c for a pairing code")
                try await terminal.type("c")
                let third = try await code(terminal)
                #expect(third.code != second.code || third.token != second.token)
                #expect(try await host.spawn(["host", "revoke", "desk"]).status == 0)
                try await terminal.shows("Revoked: desk (")
                try await terminal.type("\u{3}")
                try await terminal.shows("The host has ended.")
                #expect(try await terminal.status == 0)
            }
        }
    }

    @Test("Messages of others are written above the lines at the end, and after them as they are")
    func liveBlock() async {
        let sink = TextBuffer()
        var context = TerminalContext.process
        (context.stdout, context.stderr, context.drawing) = (sink, sink, TerminalDrawing())
        context.windowSize = { .init(columns: 40, rows: 20) }
        let block = LiveBlock(context)
        context.writeMessage("before\n")
        block.show(["code", "valid for 5:00"])
        context.writeMessage("odd\n")
        // What stays is not written again.
        block.show(["code", "valid for 4:59"])
        await context.drawing.pause {
            context.stderr.write("asked\n")
            block.show(["code", "valid for 4:58"])
        }
        // A line that is too wide is cut.
        block.show([String(repeating: "x", count: 50)])
        block.end()
        context.writeMessage("after\n")
        let row = "\r\u{1B}[K\u{1B}[C\u{1B}[J\r"
        let both = "\u{1B}[1A\(row)"
        let held = "\(both)asked\ncode\nvalid for 4:58\(both)\(String(repeating: "x", count: 39))…\(row)"
        let shown = "before\ncode\nvalid for 5:00\(both)odd\ncode\nvalid for 5:00\(row)valid for 4:59\(held)after\n"
        #expect(sink.text == shown, "\(sink.text.debugDescription)")
    }

    @Test("The time of day has the date with it if that is another one")
    func clock() {
        let (time, day) = (/[0-9]{2}:[0-9]{2}:[0-9]{2}/, Date(timeIntervalSince1970: 1_000_000_000))
        #expect(TimeText.clock(day, now: day).wholeMatch(of: time) != nil)
        let before = TimeText.clock(day, now: day + 48 * 3600)
        #expect(before.hasPrefix("2001-09-0") && before.hasSuffix(" " + TimeText.clock(day, now: day)))
    }

    /// A host's screen, of no host, whose clock stands still.
    private func screen(
        on sink: TextBuffer,
        at now: Date,
        window: @escaping @Sendable () -> TerminalContext.WindowSize?
    ) -> HostScreen {
        var context = TerminalContext.process
        (context.stdout, context.stderr) = (sink, sink)
        (context.stdoutIsTerminal, context.stderrIsTerminal) = (true, true)
        context.windowSize = window
        context.environment = [:]
        context.now = { now }
        context.drawing = TerminalDrawing()
        return HostScreen(
            output: Output(context: context, format: .text),
            name: "Shed",
            lan: false,
            picture: nil,
            showSecrets: false,
            dense: false,
            challenges: .untilPaired
        )
    }

    @Test("A code that has expired gives its place to the next one, and nothing is said of it")
    func expired() async throws {
        let sink = TextBuffer()
        let now = Date()
        let screen = screen(on: sink, at: now) { .init(columns: 100, rows: 60) }
        func show(_ code: String) async throws -> String {
            let before = sink.text.utf8.count
            let payload = PairingPayload(code: code, token: nil, expiresAt: now + 300)
            let start = PairingStartResponse(code: code, expiresAt: now + 300, qrPayload: payload.text)
            await screen.show(.challenge(start))
            let shown = String(decoding: sink.text.utf8.dropFirst(before), as: UTF8.self)
            #expect(shown.hasSuffix("\nvalid for 5:00"))
            #expect(String(decoding: try readHalfBlocks(shown), as: UTF8.self).contains(code))
            return shown
        }
        for code in ["482913", "550128"] {
            let rows = try await show(code).utf8.count { $0 == UInt8(ascii: "\n") }
            let before = sink.text.utf8.count
            await screen.show(.challengeEnded(reason: .expired))
            let shown = String(decoding: sink.text.utf8.dropFirst(before), as: UTF8.self)
            // Where the next code waits, the line says how to get one.
            #expect(shown == "\u{1B}[\(rows)A\r\u{1B}[K\u{1B}[C\u{1B}[J\rFor a pairing code: pairtool host pair")
        }
    }

    @Test("A question of the agent has a line when it is asked, and one when it needs no answer any more")
    func questions() async {
        let sink = TextBuffer()
        let now = Date()
        let screen = screen(on: sink, at: now) { nil }
        func line(_ event: HostEvent) async -> String {
            let before = sink.text.count
            await screen.show(event)
            return String(sink.text.dropFirst(before))
        }
        var question = Approval(
            id: "7b0e4a11-0000",
            chatId: "c0ffee00-0000",
            turnId: "t",
            title: "Run it\nand \u{1B}[31mmore",
            kind: "execute",
            options: [],
            askedAt: now,
            expiresAt: now + 1800
        )
        let asked = await line(.questionAsked(question))
        #expect(asked.hasPrefix("The agent asks in chat c0ffee00: Run it"), "\(asked)")
        #expect(asked.hasSuffix("To answer: pairtool host approvals show 7b0e4a11\n"), "\(asked)")
        #expect(asked.count { $0 == "\n" } == 1 && !asked.contains("\u{1B}"), "\(asked)")
        let ends: [(Approval.State, String?, String)] = [
            (.approved, "desk", "was approved: desk."), (.rejected, "The owner", "was rejected: The owner."),
            (.expired, nil, "was not answered in time: rejected."), (.cancelled, nil, "no longer needs an answer."),
            (.interrupted, nil, "was open when the host ended: the agent that asked is gone."),
        ]
        for (state, person, words) in ends {
            (question.state, question.decidedBy) = (state, person)
            let ended = await line(.questionEnded(question))
            #expect(ended == "The question 7b0e4a11 in chat c0ffee00 \(words)\n")
        }
        let notice = ApprovalNotice(.continued, of: question)
        let continued = await line(.questionContinued(notice, chatID: question.chatId, turnID: "t"))
        #expect(continued == "The agent in chat c0ffee00 continues after question 7b0e4a11.\n")
    }

    @Test("The mode of a chat's agent is said when a turn starts, when it changes and with a question")
    func modes() async throws {
        let sink = TextBuffer()
        let now = Date()
        let screen = screen(on: sink, at: now) { nil }
        let mode = try #require(AgentMode("by\u{1B}[31mpass"))
        let chat = "c0ffee00-0000"
        var turn = TurnStart(chatID: chat, title: "", turnID: "t", device: "d1", mode: nil)
        await screen.show(.turnStarted(turn))
        #expect(sink.text.hasSuffix("d1 started a turn in chat c0ffee00.\n"))
        await screen.show(.turnFinished(chatID: chat, turnID: "t", state: .finished))
        #expect(sink.text.hasSuffix("The turn in chat c0ffee00 is done.\n"))
        (turn.title, turn.mode) = ("Beds\u{1B}[31m", mode)
        await screen.show(.turnStarted(turn))
        #expect(sink.text.contains("d1 started a turn in chat “Beds"))
        #expect(sink.text.contains("” (mode: by"))
        await screen.show(.modeChanged(chatID: chat, projectID: "p", mode: mode))
        #expect(sink.text.contains("\nChat “Beds"))
        let question = Approval(
            id: "7b0e4a11-0000",
            chatId: chat,
            turnId: "t",
            title: "Run it",
            kind: "execute",
            options: [],
            askedAt: now,
            expiresAt: now + 1800,
            mode: mode
        )
        await screen.show(.questionAsked(question))
        #expect(sink.text.contains("The agent asks in chat “Beds"))
        await screen.show(.turnFinished(chatID: chat, turnID: "t", state: .failed))
        #expect(sink.text.hasSuffix("” failed.\n"))
        await screen.show(.turnFinished(chatID: chat, turnID: "t", state: .cancelled))
        #expect(sink.text.hasSuffix("The turn in chat c0ffee00 was cancelled.\n"))
        await screen.show(.modeChanged(chatID: chat, projectID: "p", mode: mode))
        #expect(sink.text.contains("\nChat c0ffee00: mode: by"), "the title is forgotten with the turn's end")
        #expect(!sink.text.contains("\u{1B}"), "\(sink.text)")
    }

    @Test("A code that the window was too small for is drawn once that is larger")
    func resized() async throws {
        let sink = TextBuffer()
        let window = NIOLockedValueBox(TerminalContext.WindowSize(columns: 60, rows: 12))
        let now = Date()
        let screen = screen(on: sink, at: now) { window.withLockedValue(\.self) }
        let payload = PairingPayload(code: "482913", token: nil, expiresAt: now + 300)
        await screen.show(
            .challenge(PairingStartResponse(code: "482913", expiresAt: now + 300, qrPayload: payload.text))
        )
        let said = sink.text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        #expect(said.contains("Make the window larger, add --dense, use --qr-file, or type the digits."))
        let before = sink.text.count
        await screen.draw()
        #expect(!sink.text.dropFirst(before).contains("█"))
        window.withLockedValue { $0 = .init(columns: 100, rows: 60) }
        await screen.draw()
        let shown = String(sink.text.dropFirst(before))
        #expect(String(decoding: try readHalfBlocks(shown), as: UTF8.self).contains("482913"))
        #expect(shown.hasSuffix("valid for 5:00"))
    }

    @Test("Pairing counts down the time of the code, and says when that is over; the answer clears the line")
    func pairing() async throws {
        var script = FakeMacScript()
        script.faults = [FakeMacFault(.stall(gate: "slow"), on: "/companion/pairing/complete")]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                // Soon over here: the host has its own clock.
                let payload = PairingPayload(
                    code: "482913",
                    token: FakeMacScript().token,
                    expiresAt: Date().addingTimeInterval(4)
                )
                let file = try user.file("qr.png", try QRSymbol(bytes: Array(payload.text.utf8)).png())
                let pair = ["pair", "--qr", file, "--url", mac.endpointText, "--allow-legacy", "--name", "desk"]
                try await user.atTerminal(pair) { terminal in
                    try await terminal.shows("Pairing… the code is valid for 0:0")
                    try await counts(terminal)
                    try await terminal.shows("Pairing… the code has expired")
                    mac.release("slow")
                    try await terminal.shows("\u{1B}[J\rPaired with ")
                    #expect(try await terminal.status == 0)
                }
            }
        }
    }
}
