import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

@testable import pairtool

/// A command that runs, and what it has said so far.
struct Follower: Sendable {
    /// Its standard output: a line of JSON an event.
    let events: HostEvents
    /// Its standard error.
    let messages: MessageLog
    let pid: Int32
    /// Asks it to end, as Ctrl-C does.
    let interrupt: @Sendable () throws -> Void
}

/// The lines that a process has said to people, to be waited for.
actor MessageLog {
    private var lines: [String] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var hasEnded = false

    func take(_ line: String) {
        lines.append(line)
        wake()
    }

    func end() {
        hasEnded = true
        wake()
    }

    var all: String { lines.joined() }

    /// Waits for so many lines that have a text.
    func has(_ text: String, times: Int = 1) async throws {
        while lines.count(where: { $0.contains(text) }) < times {
            guard !hasEnded else { throw Missing(text: text, said: lines) }
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    struct Missing: Error {
        var text: String
        var said: [String]
    }

    private func wake() {
        let all = waiting
        waiting = []
        for continuation in all { continuation.resume() }
    }
}

extension Sandbox {
    private enum Piece: Sendable {
        case out(String)
        case err(String)
    }

    /// Runs the built binary and gives its lines of JSON to a body while it runs.
    ///
    /// The command is waited for: one that does not end by itself is to be interrupted by the body.
    ///
    /// - Parameter stdin: All that its standard input has. Default: nothing.
    func follow<R: Sendable>(
        _ arguments: [String],
        stdin: String = "",
        environment extra: [String: String] = [:],
        _ body: @escaping @Sendable (Follower) async throws -> R
    ) async throws -> (value: R, result: Result) {
        let outcome = try await Subprocess.run(
            .path(FilePath(BuiltTool.path)),
            arguments: Arguments(arguments),
            environment: processEnvironment(extra),
            input: .string(stdin),
            output: .sequence,
            error: .sequence
        ) { process in
            let events = HostEvents()
            let messages = MessageLog()
            return try await withThrowingTaskGroup(of: Piece.self) { group in
                group.addTask {
                    var text = ""
                    do {
                        for try await line in process.standardOutput.strings() {
                            text += line.hasSuffix("\n") ? line : line + "\n"
                            try await events.take(line)
                        }
                    } catch {
                        await events.end()
                        throw error
                    }
                    await events.end()
                    return .out(text)
                }
                group.addTask {
                    var text = ""
                    for try await line in process.standardError.strings() {
                        text += line.hasSuffix("\n") ? line : line + "\n"
                        await messages.take(line)
                    }
                    await messages.end()
                    return .err(text)
                }
                let value: R
                do {
                    let pid = process.processIdentifier.value
                    value = try await body(
                        Follower(events: events, messages: messages, pid: pid) { try process.send(signal: .interrupt) }
                    )
                } catch {
                    try? process.send(signal: .kill)
                    throw error
                }
                var (out, err) = ("", "")
                for try await piece in group {
                    switch piece {
                    case .out(let text): out = text
                    case .err(let text): err = text
                    }
                }
                return (value: value, out: out, err: err)
            }
        }
        let status: Int32 =
            switch outcome.terminationStatus {
            case .exited(let code): code
            case .signaled(let signal): 128 + signal
            }
        let said = outcome.closureResult
        return (said.value, Result(status: status, out: said.out, err: said.err))
    }

    /// Pairs with a host of protocol 2 by what its QR code holds.
    func pair(_ qrPayload: String, as name: String = "desk", _ more: [String] = []) async throws {
        let path = try file("payload.json", Array(qrPayload.utf8))
        let result = await run(["pair", "--qr", path, "--name", name, "--json"] + more)
        #expect(result.status == 0, "\(result.err)")
        try FileManager.default.removeItem(atPath: path)
    }

    /// What the QR code of a new challenge holds, as the owner of the running host gets it.
    func newChallenge() async throws -> String {
        let shown = try await spawn(["host", "pair", "--json", "--show-secrets"])
        return try #require(try shown.json.first?["qrPayload"]?.string, "\(shown)")
    }

    /// Makes a named pipe. An agent that reads it answers only once something was written to it.
    func pipe(_ name: String) async throws -> String {
        let made = try await shell("mkfifo '\(name)'")
        #expect(made.status == 0, "\(made)")
        return "\(directory)/\(name)"
    }
}

/// Runs a host with the project `garden`, and a user who has paired with it.
func withVerifiedHost<R: Sendable>(
    _ arguments: [String] = [],
    pairing: [String] = [],
    _ body: @escaping @Sendable (_ events: HostEvents, _ host: Sandbox, _ user: Sandbox) async throws -> R
) async throws -> R {
    try await withProject { host, user in
        let project = ["--project", host.directory + "/garden", "--name", "Shed"]
        return try await withRunningHost(host, project + arguments) { events in
            let payload = try #require(try await events.first("challenge")["qrPayload"]?.string)
            try await user.pair(payload, as: "desk", pairing)
            return try await body(events, host, user)
        }
    }
}
