import FoundationEssentials
import NIOConcurrencyHelpers
import Subprocess
import SystemPackage
import Testing

/// The main job with the built binary on both sides and the embedded mDNS engine on loopback: nothing is faked.
@Suite(.serialized) struct MainJobTests {
    /// Runs the tool as a host and gives its events to a body.
    private func withHost<R: Sendable>(
        _ host: Sandbox,
        _ arguments: [String],
        _ body: @escaping @Sendable (HostEvents) async throws -> R
    ) async throws -> R {
        let outcome = try await Subprocess.run(
            .path(FilePath(BuiltTool.path)),
            arguments: Arguments(
                ["host", "--legacy", "--json", "--show-secrets", "--port", "0", "--engine", "embedded"] + arguments
            ),
            environment: host.processEnvironment([:]),
            input: .none,
            output: .sequence,
            error: .discarded
        ) { process in
            let events = HostEvents()
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await line in process.standardOutput.strings() { try await events.take(line) }
                    await events.end()
                }
                let result = try await body(events)
                try process.send(signal: .interrupt)
                try await group.waitForAll()
                return result
            }
        }
        #expect(outcome.terminationStatus == .exited(0), "a host that is told to end ends well")
        return outcome.closureResult
    }

    private func withProject<R>(_ body: (Sandbox, Sandbox) async throws -> R) async throws -> R {
        try await Sandbox.with { host in
            try await Sandbox.with { user in
                try FileManager.default.createDirectory(
                    atPath: host.directory + "/garden",
                    withIntermediateDirectories: true
                )
                _ = try host.file("garden/README.md", Array("# Garden\n\nRoses and beans.\n".utf8))
                return try await body(host, user)
            }
        }
    }

    @Test("Discover, scan, pair, browse, chat, list devices, disconnect")
    func mainJob() async throws {
        try await withProject { host, user in
            let arguments = ["--name", "Bench \(UUID().uuidString.prefix(8))", "--project", host.directory + "/garden"]
            let picture = host.directory + "/qr.png"
            try await withHost(host, arguments + ["--qr-file", picture]) { events in
                _ = try await events.first("challenge")
                let name = try #require(try await events.first("advertised")["message"]?.string)
                let port = try #require(try await events.first("listening")["port"])

                let found = try await user.spawn([
                    "discover", "--interface", "lo", "--engine", "embedded", "--probe", "--json",
                ])
                #expect(found.status == 0, "\(found.err)")
                let row = try #require(try found.json.first { name.contains($0["name"]?.string ?? "?") })
                #expect(row["paired"] == .bool(false))
                #expect(row["probe"]?["state"]?.string == "up")
                guard case .list(let addresses) = row["addresses"] else { throw CancellationError() }
                #expect(addresses.contains { $0["port"] == port })

                let scanned = try await user.spawn(["scan", picture, "--json"])
                #expect(try scanned.json[0]["hasToken"] == .bool(true))
                let id = try #require(row["id"]?.string)
                let paired = try await user.spawn([
                    "pair", String(id.prefix(8)), "--qr", picture, "--interface", "lo", "--engine", "embedded",
                    "--allow-legacy", "--name", "desk",
                ])
                #expect(paired.status == 0, "\(paired.err)")
                #expect(try await events.first("paired")["deviceName"]?.string == "desk")

                #expect(try await user.spawn(["projects", "-q"]).status == 0)
                let answer = try await user.spawn([
                    "send", "--new", "--project", "garden", "show README.md", "--allow-tool", "read_file",
                ])
                #expect(answer.out.contains("Roses and beans."), "\(answer)")
                #expect(try await events.first("turn_finished")["ok"] == .bool(true))
                let denied = try await user.spawn(["send", "show README.md", "show README.md"])
                #expect(!denied.out.contains("Roses"))
                #expect(denied.out.contains("read_file"))
                let messages = try await user.spawn(["messages", "show README.md", "--json"]).json
                #expect(messages.map { $0["role"]?.string } == ["user", "assistant", "user", "assistant"])
                #expect(try await user.spawn(["devices", "-q"]).out.split(separator: "\n").count == 1)
                #expect(try await user.spawn(["disconnect"]).status == 0)
                #expect(try await user.spawn(["projects"]).status == 5)
            }
        }
    }

    @Test("With several hosts in sight the code goes to the named one only, and to none without a name")
    func severalHosts() async throws {
        try await withProject { host, user in
            try await withProject { second, _ in
                let project = ["--project", host.directory + "/garden"]
                try await withHost(host, project + ["--name", "Aster"]) { one in
                    try await withHost(second, project + ["--name", "Briar"]) { two in
                        let payload = try #require(try await one.first("challenge")["qrPayload"]?.string)
                        _ = try await (one.first("advertised"), two.first("advertised"))
                        let file = try user.file("payload.json", Array(payload.utf8))
                        let pair = [
                            "pair", "--qr", file, "--interface", "lo", "--engine", "embedded", "--allow-legacy",
                        ]
                        let unclear = try await user.spawn(pair)
                        #expect(unclear.status == 2)
                        #expect(unclear.err.contains("Aster") && unclear.err.contains("Briar"))
                        #expect(try await user.spawn(pair + ["Nobody", "--timeout", "2"]).status == 3)
                        #expect(try await user.spawn(pair + ["aster"]).status == 0)
                        #expect(await !two.has("wrong_code"))
                        #expect(await !two.has("paired"))
                    }
                }
            }
        }
    }

    @Test("A wrong code is seen at the host, and three end the challenge")
    func wrongCodes() async throws {
        try await withProject { host, user in
            try await withHost(host, ["--project", host.directory + "/garden"]) { events in
                let right = try #require(try await events.first("challenge")["code"]?.string)
                let wrong = right == "000000" ? "000001" : "000000"
                let port = try #require(try await events.first("listening")["port"])
                guard case .number(let number) = port else { throw CancellationError() }
                let url = "127.0.0.1:\(Int(number))"
                for _ in 0..<3 {
                    let tried = try await user.spawn(
                        ["pair", "--url", url, "--code-stdin", "--allow-legacy"],
                        stdin: wrong + "\n"
                    )
                    #expect(tried.status == 6)
                }
                #expect(try await events.first("wrong_code")["triesLeft"] == .number(2))
                #expect(try await events.first("challenge_ended")["reason"]?.string == "burnt")
                let late = try await user.spawn(
                    ["pair", "--url", url, "--code-stdin", "--allow-legacy"],
                    stdin: right + "\n"
                )
                #expect(late.status == 6 || late.status == 7, "\(late)")
            }
        }
    }

    @Test("An advert that comes and goes is seen by discover --watch")
    func watch() async throws {
        try await withProject { host, user in
            let outcome = try await Subprocess.run(
                .path(FilePath(BuiltTool.path)),
                arguments: ["discover", "--watch", "--json", "--interface", "lo", "--engine", "embedded"],
                environment: user.processEnvironment([:]),
                input: .none,
                output: .sequence,
                error: .discarded
            ) { process in
                let seen = HostEvents()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for try await line in process.standardOutput.strings() { try await seen.take(line) }
                        await seen.end()
                    }
                    try await withHost(host, ["--name", "Comet", "--project", host.directory + "/garden"]) { _ in
                        let added = try await seen.first("added") { $0["host"]?["name"]?.string == "Comet" }
                        #expect(added["host"]?["family"]?.string == "copilotforge")
                    }
                    _ = try await seen.first("removed") { $0["host"]?["name"]?.string == "Comet" }
                    try process.send(signal: .interrupt)
                    try await group.waitForAll()
                }
            }
            #expect(outcome.terminationStatus == .exited(130))
        }
    }
}

/// The lines of JSON that a process has written, to be waited for.
actor HostEvents {
    private var events: [[String: JSONValue]] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var hasEnded = false

    func take(_ line: String) throws {
        guard !line.isEmpty else { return }
        events.append(try JSONDecoder().decode([String: JSONValue].self, from: Data(line.utf8)))
        wake()
    }

    func end() {
        hasEnded = true
        wake()
    }

    func has(_ name: String) -> Bool {
        events.contains { $0["event"]?.string == name }
    }

    /// The first event of a name for which a condition holds; waits until there is one.
    func first(
        _ name: String,
        where condition: @Sendable ([String: JSONValue]) -> Bool = { _ in true }
    ) async throws -> [String: JSONValue] {
        while true {
            if let event = events.first(where: { $0["event"]?.string == name && condition($0) }) { return event }
            guard !hasEnded else { throw Missing(name: name, seen: events.compactMap { $0["event"]?.string }) }
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    struct Missing: Error {
        var name: String
        var seen: [String]
    }

    private func wake() {
        let all = waiting
        waiting = []
        for continuation in all { continuation.resume() }
    }
}
