import CompanionWire
import FoundationEssentials
import QRCodec
import Terminal
import Testing

@testable import pairtool

/// A QR code is in the window as a whole, whatever is said about it.
@Suite(.serialized, .timeLimit(.minutes(15))) struct WindowTests {
    private static let payload =
        #"{"protocol":"copilotforge-pair-v1","code":"482913","token":"sample-token-0123456789-0123456789","#
        + #""expiresAt":"2099-12-31T23:59:59.000Z"}"#

    private func draw(_ text: String, columns: Int, rows: Int, _ more: [String] = []) async throws -> (
        status: pairtool.ExitStatus, written: String
    ) {
        try await Sandbox.with { user in
            let sink = TextBuffer()
            var context = TerminalContext.process
            (context.stdout, context.stderr) = (sink, sink)
            (context.stdoutIsTerminal, context.stderrIsTerminal) = (true, true)
            context.environment = ["TERM": "xterm"]
            context.windowSize = { .init(columns: columns, rows: rows) }
            let file = try user.file("text", Array(text.utf8))
            let status = await TerminalContext.$current.withValue(context) {
                await CommandRunner.run(["qr", file] + more)
            }
            return (status, sink.text)
        }
    }

    @Test(
        "At the prompt that follows, no row of the drawing has gone",
        arguments: [
            (payload, 100, 60), (payload, 80, 26), (payload, 80, 24), (payload, 60, 18), (payload, 45, 19),
            (payload, 30, 20),
            ("hello", 40, 12), ("hello", 80, 24), ("hello", 24, 9), ("hello", 12, 9),
        ] as [(String, Int, Int)]
    )
    func prompt(text: String, columns: Int, rows: Int) async throws {
        let (status, written) = try await draw(text, columns: columns, rows: rows, ["--dense"])
        #expect(status == .done, "\(written)")
        let screen = ShownScreen(written + "$ ", columns: columns, rows: rows)
        #expect(screen.drawnRows.all > 6 && screen.drawnRows.visible == screen.drawnRows.all, "\(screen.visible)")
        let said = Self.joined(written)
        #expect(said.contains("The QR code above has ") || said.contains("The QR code below has "))
        if text == Self.payload {
            #expect(said.contains("Pairing code: 482 913 (four eight two, nine one three)"))
        }
    }

    @Test("The text stands below the drawing where there is room for both, and above it where there is none")
    func places() async throws {
        let roomy = try await draw("hello", columns: 80, rows: 24).written
        #expect(roomy.contains("The QR code above has "))
        let tight = try await draw("hello", columns: 24, rows: 9, ["--dense"]).written
        #expect(Self.joined(tight).hasPrefix("The QR code below has "))
    }

    @Test("A window that not even the densest drawing fits into is said to be too small, with its real size")
    func tooSmall() async throws {
        let (status, written) = try await draw("hello", columns: 24, rows: 8, ["--dense"])
        #expect(status == .failed)
        let said = Self.joined(written)
        #expect(said.contains("make the window larger, or draw a picture: pairtool qr -o code.png"), "\(written)")
        #expect(ShownScreen(written, columns: 24, rows: 8).drawnRows.all == 0)
        #expect(said.contains("needs 12 columns and 9 rows; the window has 24 columns and 8 rows"), "\(written)")
    }

    /// The words as they are without breaks of lines.
    private static func joined(_ text: String) -> String {
        text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    }

    @Test("Rows are counted as the terminal wraps them")
    func rows() {
        #expect(DisplayWidth.rows(of: "", columns: 4) == 1)
        #expect(DisplayWidth.rows(of: "abcd", columns: 4) == 1)
        #expect(DisplayWidth.rows(of: "abcde", columns: 4) == 2)
        #expect(DisplayWidth.rows(of: "a\nabcdefgh\n", columns: 4) == 4)
        // Three columns are left of the first row's four: the second character, which takes two, fits; the third does
        // not.
        #expect(DisplayWidth.rows(of: "a日本", columns: 4) == 2)
        #expect(DisplayWidth.rows(of: "日本日", columns: 5) == 2)
    }

    @Test(
        "A host's code is in the window with its digits and the time left, once the host is advertised",
        arguments: [80, 40]
    )
    func host(columns: Int) async throws {
        try await withProject { host, _ in
            let arguments = [
                "host", "--name", "Hut \(columns)", "--project", host.directory + "/garden",
                "--port",
                "0",
                "--engine", "embedded", "--dense",
            ]
            try await host.atTerminal(arguments, columns: columns, rows: 24) { terminal in
                try await terminal.shows("Advertised as ")
                let shown = try await terminal.shown("the time left, below the advert") {
                    $0.split(separator: "Advertised as ").last?.contains("valid for") ?? false
                }
                let screen = ShownScreen(shown, columns: columns, rows: 24)
                #expect(
                    screen.drawnRows.all > 15 && screen.drawnRows.visible == screen.drawnRows.all,
                    "\(screen.visible.joined(separator: "\n"))"
                )
                #expect(screen.visible.contains { $0.hasPrefix("Pairing code:  ") })
                #expect(screen.visible.last?.hasPrefix("valid for ") == true)
                try await terminal.type("\u{3}")
                try await terminal.shows("The host has ended.")
                #expect(try await terminal.status == 0)
            }
        }
    }
}
