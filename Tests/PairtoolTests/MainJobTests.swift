import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Subprocess
import SystemPackage
import Testing

@testable import pairtool

/// The main job with the built binary on both sides and the embedded mDNS engine on loopback: nothing is faked.
@Suite(.serialized, .timeLimit(.minutes(15))) struct MainJobTests {
    @Test("Discover, scan, pair, browse, chat, list devices, disconnect")
    func mainJob() async throws {
        try await withProject { host, user in
            let arguments = ["--name", "Bench \(UUID().uuidString.prefix(8))", "--project", host.directory + "/garden"]
            let picture = host.directory + "/qr.png"
            try await withRunningHost(host, arguments + ["--qr-file", picture]) { events in
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

                // Known by its TLS port only, it is asked there.
                var bySecure: [String: ShownJSON]?
                // On a busy machine one look may miss it.
                while bySecure == nil {
                    let secure = try await user.spawn([
                        "discover", "--interface", "lo", "--engine", "embedded", "--type", "_cf-companion._tcp",
                        "--probe", "--json",
                    ])
                    bySecure = try secure.json.first { name.contains($0["name"]?.string ?? "?") }
                }
                #expect(bySecure?["probe"]?["state"]?.string == "up")

                let scanned = try await user.spawn(["scan", picture, "--json"])
                #expect(try scanned.json[0]["hasToken"] == .bool(true))
                let paired = try await user.spawn([
                    "pair", "--qr", picture, "--interface", "lo", "--engine", "embedded", "--name", "desk", "--json",
                ])
                #expect(paired.status == 0, "\(paired.err)")
                #expect(try paired.json[0]["trust"]?.string == "verified")
                #expect(try paired.json[0]["id"] == row["id"])
                #expect(try await events.first("paired")["deviceName"]?.string == "desk")

                #expect(try await user.spawn(["projects", "-q"]).status == 0)
                let answer = try await user.spawn([
                    "send", "--new", "--project", "garden", "show README.md",
                ])
                #expect(answer.out.contains("Roses and beans."), "\(answer)")
                #expect(try await events.first("turn_finished")["ok"] == .bool(true))
                #expect(!answer.err.contains("allow"), "\(answer)")
                let second = try await user.spawn(["send", "show README.md", "help"])
                #expect(second.out.contains("project explorer"), "\(second)")
                let messages = try await user.spawn(["messages", "show README.md", "--json"]).json
                #expect(messages.map { $0["role"]?.string } == ["user", "assistant", "user", "assistant"])
                #expect(try await user.spawn(["devices", "-q"]).out.split(separator: "\n").count == 1)
                #expect(try await user.spawn(["disconnect"]).status == 0)
                // The key opens another session; a pairing that is revoked is over.
                #expect(try await user.spawn(["projects"]).status == 0)
                #expect(try await user.spawn(["devices", "revoke", "desk", "--yes"]).status == 0)
                #expect(try await user.spawn(["projects"]).status == 9)
            }
        }
    }

    @Test("The first answer that a new user gets is a list at the terminal, one entry on a row")
    func firstAnswer() async throws {
        try await withVerifiedHost { _, host, user in
            _ = try host.file("garden/beans.txt", Array("Beans.\n".utf8))
            try await user.atTerminal(["send", "--new", "list", "--allow-all-tools"]) { terminal in
                try await terminal.shown("the list") { shown in
                    let text = shown.replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "")
                    return text.contains("  README.md  27 B\n  beans.txt  7 B\n")
                }
                #expect(try await terminal.status == 0)
            }
        }
    }

    @Test("With several hosts in sight the code goes to the named one only, and to none without a name")
    func severalHosts() async throws {
        try await withProject { host, user in
            try await withProject { second, _ in
                let project = ["--project", host.directory + "/garden"]
                try await withRunningHost(host, project + ["--name", "Aster"]) { one in
                    try await withRunningHost(second, project + ["--name", "Briar"]) { two in
                        let payload = try await one.payload
                        _ = try await (one.first("advertised"), two.first("advertised"))
                        let pair = ["pair", "--code-stdin", "--interface", "lo", "--engine", "embedded"]
                        let code = payload.code + "\n"
                        let unclear = try await user.spawn(pair, stdin: code)
                        #expect(unclear.status == 2)
                        #expect(unclear.err.contains("Aster") && unclear.err.contains("Briar"))
                        #expect(try await user.spawn(pair + ["Nobody", "--timeout", "2s"], stdin: code).status == 3)
                        #expect(try await user.spawn(pair + ["aster"], stdin: code).status == 0)
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
            try await withRunningHost(host, ["--project", host.directory + "/garden"]) { events in
                let right = try #require(try await events.first("challenge")["code"]?.string)
                let wrong = right == "000000" ? "000001" : "000000"
                let url = "127.0.0.1:\(try await events.ports.plain)"
                for _ in 0..<3 {
                    let tried = try await user.spawn(
                        ["pair", "--url", url, "--code-stdin"],
                        stdin: wrong + "\n"
                    )
                    #expect(tried.status == 6)
                }
                #expect(try await events.first("wrong_code")["triesLeft"] == .number(2))
                #expect(try await events.first("challenge_ended")["reason"]?.string == "burnt")
                let late = try await user.spawn(
                    ["pair", "--url", url, "--code-stdin"],
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
                    try await withRunningHost(host, ["--name", "Comet", "--project", host.directory + "/garden"]) { _ in
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
