import FoundationEssentials
import Subprocess
import SystemPackage

@testable import pairtool

/// A window of tmux, a terminal that nobody here wrote. It is driven in control mode, in which tmux says when a program has
/// written something.
actor Tmux {
    struct Failure: Error {
        var reason: String
    }

    private let lines: AsyncStream<String>
    private let tell: @Sendable (String) async throws -> Void
    private var hasEnded = false

    fileprivate init(lines: AsyncStream<String>, tell: @escaping @Sendable (String) async throws -> Void) {
        self.lines = lines
        self.tell = tell
    }

    private func nextLine() async throws -> String {
        for await line in lines {
            if line.hasPrefix("%exit") { hasEnded = true }
            return line
        }
        throw Failure(reason: "tmux has ended")
    }

    /// Reads the answer of a command; what is notified meanwhile is left out.
    @discardableResult
    fileprivate func answer() async throws -> [String] {
        while !(try await nextLine()).hasPrefix("%begin ") {
            if hasEnded { throw Failure(reason: "tmux has ended") }
        }
        var answer: [String] = []
        while true {
            let line = try await nextLine()
            if line.hasPrefix("%end ") { return answer }
            if line.hasPrefix("%error ") { throw Failure(reason: answer.joined(separator: "\n")) }
            answer.append(line)
        }
    }

    @discardableResult
    private func command(_ command: String) async throws -> [String] {
        try await tell(command)
        return try await answer()
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }

    /// Types text.
    func type(_ text: String) async throws {
        try await command("send-keys -l -- \(Self.quoted(text))")
    }

    /// Presses a key by the name that tmux has for it, such as `C-c`, `M-Enter` or `Up`.
    func press(_ keys: String...) async throws {
        try await command("send-keys " + keys.joined(separator: " "))
    }

    /// Pastes the content of a file, between brackets if the program has asked for them.
    func paste(file: String) async throws {
        try await command("load-buffer \(Self.quoted(file))")
        try await command("paste-buffer -p -r")
    }

    func resize(columns: Int, rows: Int = 24) async throws {
        try await command("refresh-client -C \(columns)x\(rows)")
    }

    /// What the window shows, without blanks at the ends of rows and empty rows at the end.
    ///
    /// - Parameter scrollback: Whether what has left the window at its top belongs to it.
    func screen(scrollback: Bool = true) async throws -> String {
        let rows = try await command("capture-pane -p" + (scrollback ? " -S -" : ""))
        return rows.prefix((rows.lastIndex { !$0.isEmpty } ?? -1) + 1).joined(separator: "\n")
    }

    /// Waits until the window shows what a condition wants.
    ///
    /// - Parameter what: What is waited for, in words.
    @discardableResult
    func shown(_ what: String, where condition: (String) -> Bool) async throws -> String {
        var screen = ""
        while true {
            do {
                screen = try await self.screen()
                if condition(screen) { return screen }
                while !(try await nextLine()).hasPrefix("%output ") {
                    if hasEnded { throw Failure(reason: "tmux has ended") }
                }
            } catch {
                throw Failure(reason: "\(what) was not shown (\(error)):\n\(screen)")
            }
        }
    }

    /// Waits until the window shows a text.
    @discardableResult
    func shows(_ text: String) async throws -> String {
        try await shown(text) { $0.contains(text) }
    }
}

extension Sandbox {
    /// Runs a shell in a window of tmux, whose prompt is `$ `.
    func inTmux<R: Sendable>(
        columns: Int = 80,
        rows: Int = 24,
        environment: [String: String] = [:],
        _ body: @escaping @Sendable (Tmux) async throws -> R
    ) async throws -> R {
        var variables = ["LANG": "C.UTF-8", "TMUX_TMPDIR": directory, "pairtool": BuiltTool.path]
        variables.merge(environment) { $1 }
        return try await Subprocess.run(
            .path("/usr/bin/tmux"),
            arguments: [
                "-u", "-C", "-f", "/dev/null", "new-session", "-x", "\(columns)", "-y", "\(rows)",
                "exec /bin/sh",
            ],
            environment: processEnvironment(variables),
            input: .inputWriter,
            output: .sequence,
            error: .discarded
        ) { process in
            let (lines, line) = AsyncStream.makeStream(of: String.self)
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await text in process.standardOutput.strings() {
                        line.yield(text.hasSuffix("\r") ? String(text.dropLast()) : text)
                    }
                    line.finish()
                }
                let tmux = Tmux(lines: lines) { _ = try await process.standardInputWriter.write($0 + "\n") }
                let result: R
                do {
                    try await tmux.answer()
                    try await tmux.resize(columns: columns, rows: rows)
                    // The shell of root has a prompt of its own.
                    try await tmux.type("PS1='$ '; clear")
                    try await tmux.press("Enter")
                    try await tmux.shown("the prompt") { $0 == "$" }
                    result = try await body(tmux)
                } catch {
                    _ = try? await process.standardInputWriter.write("kill-server\n")
                    try? await process.standardInputWriter.finish()
                    throw error
                }
                _ = try await process.standardInputWriter.write("kill-server\n")
                try await process.standardInputWriter.finish()
                try await group.waitForAll()
                return result
            }
        }.closureResult
    }
}
