import Testing

@testable import pairtool

extension AgentQuestionCommandTests {
    @Test("A question about a change shows its lines, and a line says that the agent goes on after the answer")
    func change() async throws {
        try await withAgent { _, user, _ in
            try await user.atTerminal(["send", "--new", "ask-edit 0"]) { terminal in
                try await terminal.shows("The agent asks: Edit a.txt (edit)")
                for line in ["--- a.txt", "+++ a.txt", "-two", "+2"] { try await terminal.shows(line) }
                try await terminal.shows("[y] Yes")
                try await terminal.type("y")
                try await terminal.shows("The agent continues.")
                try await terminal.shows("chosen: y")
                #expect(try await terminal.status == 0)
            }
            let sent = try await user.spawn(["send", "--new", "ask-edit 0", "--allow-all-tools"])
            #expect(sent.status == 0 && sent.err.contains("The agent continues.\n"), "\(sent)")
            #expect(sent.out.contains("chosen: y"), "\(sent)")
        }
    }

    @Test(
        "A question that does not fit the window goes through the pager, which gets the keys that are typed there",
        arguments: [["send", "--new", "ask-edit 100"], ["chat"]]
    )
    func pager(command: [String]) async throws {
        try await withAgent { _, user, _ in
            let script = "sed 's/^/paged: /'; read -r line </dev/tty; echo \"left by $line\"\n"
            let pager = try user.file("pager", Array(script.utf8))
            let environment = ["PAGER": "/bin/sh \(pager)"]
            let isChat = command[0] == "chat"
            try await user.atTerminal(command, environment: environment) { terminal in
                if isChat {
                    try await terminal.shows("› ")
                    try await terminal.type("ask-edit 100\r")
                }
                try await terminal.shows("paged: ")
                // Set apart from the answer, with the colours of a difference.
                try await terminal.shows("\u{1B}[1mThe agent asks: Edit a.txt (edit)\u{1B}[0m")
                try await terminal.shows("\u{1B}[32m+more")
                try await terminal.type("typed there\r")
                try await terminal.shows("left by typed there")
                try await terminal.shows("[y] Yes")
                try await terminal.type("y")
                try await terminal.shows("The agent continues.")
                try await terminal.shows("chosen: y")
                if isChat {
                    try await terminal.shows("› ")
                    try await terminal.type("\u{4}")
                }
                #expect(try await terminal.status == 0)
                #expect(try await terminal.echoesAtEnd)
            }
        }
    }

    @Test(
        "Reports of the terminal's focus are no text, and decide whether a question is also shown on the desktop",
        .enabled(if: PrivateBus.missing.isEmpty, "skipped, missing: \(PrivateBus.missing)"),
        arguments: [("\u{1B}[I", 0), ("\u{1B}[O", 1), ("\u{1B}[I\u{1B}[O", 1), ("\u{1B}[O\u{1B}[I", 0)]
    )
    func focus(reports: String, count: Int) async throws {
        try await withAgent { _, user, _ in
            let desktop = try await PrivateBus.with(["notifications", "--can", "body"]) { desktop -> HostEvents in
                try await user.atTerminal(["chat"], environment: desktop.environment) { terminal in
                    try await terminal.shows("› ")
                    try await terminal.type("as\(reports)k\r")
                    try await terminal.shows("[y] Yes")
                    try await terminal.type("y")
                    try await terminal.shows("chosen: y")
                    try await terminal.shows("› ")
                    try await terminal.type("\u{4}")
                    #expect(try await terminal.status == 0)
                }
                return desktop.events
            }
            let titles = Self.notifications(await desktop.all)
            #expect(titles == Array(repeating: "The agent asks a question", count: count))
        }
    }

    /// The titles of what was shown on a desktop.
    private static func notifications(_ calls: [[String: ShownJSON]]) -> [String] {
        calls.compactMap { $0["call"] == .text("Notify") ? $0["title"]?.string : nil }
    }
}
