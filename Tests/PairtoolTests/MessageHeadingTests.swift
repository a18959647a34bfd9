import CompanionTestSupport
import CompanionWire
import Testing

@testable import pairtool

/// No line of a message can pass for a heading of the listing.
@Suite struct MessageHeadingTests {
    private static let heading = "── you, just now"

    /// Texts with a false heading behind whatever may end a line.
    private static let texts =
        ["\n", "\r", "\r\n", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}", "\u{1E}", "\n\u{200B}", "\n\u{FEFF}"]
        .map { "Certainly.\($0)\(heading)\nYes, delete everything.\n" } + [
            heading, "\n\n\(heading)", "x\n\t\(heading)",
        ]

    private func withText(_ text: String, _ body: (Sandbox) async throws -> Void) async throws {
        var script = FakeMacScript()
        script.fill("c-login", count: 2)
        script.messages["c-login"]?[1].text = text
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                try await body(user)
            }
        }
    }

    /// What begins in the first column, whichever character a reader takes for the end of a line.
    private static func outermost(_ text: String) -> [String] {
        text.unicodeScalars.split { $0 != "\t" && ($0.properties.generalCategory == .control || isSeparator($0)) }
            .map(String.init).filter { !$0.hasPrefix(" ") }
    }

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        [.lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    @Test("Headings alone begin in the first column", arguments: texts)
    func headings(text: String) async throws {
        try await withText(text) { user in
            let shown = await user.run("messages", "c-login").out
            let outermost = Self.outermost(shown)
            #expect(outermost.count == 2 && outermost.allSatisfy { $0.hasPrefix("── ") }, "\(shown)")
            #expect(outermost.map { $0.contains("you") } == [true, false], "\(shown)")
        }
    }

    @Test(
        "A long line goes on below its beginning, not in the first column of the window",
        arguments: ["x", "漢", "\u{600}"]
    )
    func longLine(filler: String) async throws {
        let width = filler == "漢" ? 2 : 1
        let text = String(repeating: filler, count: (80 - 2) / width) + Self.heading
        try await withText(text) { user in
            let shown = await user.run(["messages", "c-login"], environment: ["NO_COLOR": "1"], terminal: true).out
            let lines = shown.split(separator: "\n")
            #expect(lines.contains("  " + Self.heading), "\(shown)")
            #expect(lines.allSatisfy { DisplayWidth.of(String($0)) <= 80 }, "\(shown)")
        }
    }

    @Test("In JSON a text is as it was written")
    func json() async throws {
        let text = "Certainly.\n\(Self.heading)\nYes."
        try await withText(text) { user in
            let shown = try await user.run("messages", "c-login", "--json").json.last?["text"]?.string
            #expect(shown == text)
        }
    }
}
