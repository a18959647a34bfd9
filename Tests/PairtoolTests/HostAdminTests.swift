import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

@testable import pairtool

/// `pairtool host` and the commands that speak to it, as the built binary.
@Suite(.serialized) struct HostAdminTests {
    /// Runs the tool as a host of a user and gives its events to a body.
    private func withHost<R: Sendable>(
        _ user: Sandbox,
        _ arguments: [String] = [],
        _ body: @escaping @Sendable (HostEvents) async throws -> R
    ) async throws -> R {
        try await withRunningHost(user, ["--name", "Shed", "--project", user.directory] + arguments, body)
    }

    @Test(
        "Without a host the commands say so",
        arguments: [
            ["pair"], ["devices"], ["revoke", "x"], ["permissions", "x"], ["unlock"], ["status"], ["audit"], ["rules"],
        ]
    )
    func noHost(arguments: [String]) async throws {
        try await Sandbox.with { user in
            let result = try await user.spawn(["host"] + arguments + ["--json"])
            #expect(result.status == 10, "\(result)")
            #expect(try result.errorCode == "host.not_running")
            #expect(result.out.isEmpty)
        }
    }

    @Test(
        "What cannot be meant is a mistake in the command line",
        arguments: [
            ["pair", "--ttl", "59s"], ["pair", "--ttl", "901s"], ["pair", "--permission", "everything"],
            ["pair", "--read-only", "--permission", "chat.send"], ["pair", "--expires", "0"],
            ["pair", "--expires", "soon"], ["permissions", "x", "--read-only", "--permission", "chat.send"],
            ["rules", "add", "allow"], ["rules", "add", "maybe", "--kind", "read"], ["rules", "remove", "x"],
            ["rules", "add", "deny", "--command", "rm; ls"], ["rules", "add", "deny", "--path", "/etc"],
            ["rules", "add", "deny", "--command", "rm", "--path", "docs"],
            ["run", "--tls-port", "70000"], ["--read-only", "--permission", "chat.send"],
        ]
    )
    func usage(arguments: [String]) async throws {
        try await Sandbox.with { user in
            let result = try await user.spawn(["host"] + arguments)
            #expect(result.status == 2, "\(result)")
        }
    }

    @Test(
        "A mistyped kind of tool or permission is refused, with the nearest one",
        arguments: [
            (["host", "rules", "add", "allow", "--kind", "exekute"], "did you mean execute?"),
            (["host", "permissions", "x", "--add", "aprove"], "Did you mean approve?"),
            (["host", "permissions", "x", "--remove", "chat.sned"], "Did you mean chat.send?"),
            (["host", "pair", "--permission", "project.creat"], "Did you mean project.create?"),
            (["pair", "--permission", "chat.sent"], "Did you mean chat.send?"),
        ]
    )
    func mistyped(arguments: [String], hint: String) async throws {
        try await Sandbox.with { user in
            let result = await user.run(arguments)
            #expect(result.status == 2 && result.err.contains(hint), "\(result)")
        }
    }

    @Test("At a terminal, host pair waits for a device, and says who has paired")
    func waits() async throws {
        try await Sandbox.with { host in
            try await Sandbox.with { guest in
                try await withHost(host, []) { events in
                    _ = try await events.first("advertised")
                    let picture = host.directory + "/code.png"
                    try await host.atTerminal(["host", "pair", "--qr-file", picture]) { terminal in
                        try await terminal.shows("Waiting for a device")
                        let paired = try await guest.spawn(
                            ["pair", "--qr", picture, "--name", "Lap", "--require", "verified"]
                        )
                        #expect(paired.status == 0, "\(paired)")
                        try await terminal.shows("“Lap” has paired")
                        #expect(try await terminal.status == 0)
                    }
                }
            }
        }
    }

    @Test("The owner starts a pairing for a guest, sees the device, changes what it may do, and revokes it")
    func owner() async throws {
        try await Sandbox.with { host in
            try await Sandbox.with { guest in
                try await withHost(host, ["--legacy"]) { events in
                    let port = try #require(try await events.first("listening")["port"])
                    guard case .number(let number) = port else { throw CancellationError() }
                    let status = try #require(try await host.spawn(["host", "status", "--json"]).json.first)
                    #expect(status["name"]?.string == "Shed" && status["port"] == port)
                    #expect(status["pairing"]?["locked"] == .bool(false))

                    let hidden = try await host.spawn(["host", "pair", "--json"])
                    #expect(hidden.status == 0 && !hidden.out.contains("code") && !hidden.out.contains("qrPayload"))
                    let shown = try await host.spawn([
                        "host", "pair", "--permission", "chat.send", "--expires", "1h", "--ttl", "60s", "--json",
                        "--show-secrets",
                    ])
                    let code = try #require(try shown.json.first?["code"]?.string)
                    // The host shows the same code.
                    _ = try await events.first("challenge") { $0["code"]?.string == code }
                    let paired = try await guest.spawn(
                        [
                            "pair", "--url", "http://127.0.0.1:\(Int(number))", "--code-stdin", "--allow-legacy",
                            "--name", "Lap",
                        ],
                        stdin: code + "\n"
                    )
                    #expect(paired.status == 0, "\(paired.err)")

                    let device = try #require(try await host.spawn(["host", "devices", "--json"]).json.first)
                    #expect(device["name"]?.string == "Lap")
                    #expect(device["permissions"] == .list([.text("chat.send")]))
                    #expect(device["expiresAt"] != nil)
                    let id = try #require(device["id"]?.string)
                    let changed = try await host.spawn([
                        "host", "permissions", String(id.prefix(6)), "--permission", "chat.send",
                        "--permission", "chat.create", "--json",
                    ])
                    let rights = try changed.json.first?["permissions"]
                    #expect(rights == .list([.text("chat.send"), .text("chat.create")]), "\(changed)")
                    let reading = try await host.spawn(["host", "permissions", "lap", "--read-only"])
                    #expect(reading.out.hasSuffix("may: read\n"))
                    let words = ["---completion", "host", "revoke", "--", "positional@0", "2", "0", "pairtool", "host"]
                    #expect(try await host.spawn(words + ["revoke", ""]).out.contains("Lap"))
                    let table = try await host.spawn(["host", "audit"]).out
                    #expect(table.contains("  paired  ") && table.contains("  Lap  "), "\(table)")
                    #expect(
                        table.contains("  paired  Lap  six digits; from 127.0.0.1; may read, chat.send; until "),
                        "\(table)"
                    )
                    #expect(
                        table.contains("  permissions  Lap  may read; before: read, chat.send, chat.create\n"),
                        "\(table)"
                    )
                    #expect(!table.contains("{") && !table.contains("[") && !table.contains(id), "\(table)")
                    #expect(try await host.spawn(["host", "revoke", "Lap", "-q"]).out == id + "\n")
                    #expect(try await events.first("revoked")["deviceId"]?.string == id)
                    #expect(try await host.spawn(["host", "devices"]).isEmptyList)
                    #expect(try await host.spawn(["host", "revoke", "Lap"]).status == 3)

                    let audit = try await host.spawn(["host", "audit", "--json"]).json.map { $0["kind"]?.string }
                    #expect(
                        audit == ["pairing.paired", "device.permissions", "device.permissions", "device.revoked"]
                    )
                    let verdict = try await host.spawn(["host", "audit", "--verify", "--json"])
                    #expect(verdict.status == 0)
                    #expect(try verdict.json.first?["intact"] == .bool(true))
                    #expect(!shown.err.contains(code))
                }
            }
        }
    }

    @Test("The owner adds rules for the agent, sees them, and removes them")
    func rules() async throws {
        try await Sandbox.with { user in
            try await withHost(user) { events in
                _ = try await events.first("listening")
                let none = try await user.spawn(["host", "rules", "--json"])
                #expect(none.status == 0 && none.out.isEmpty && none.err.contains("No rules"), "\(none)")
                let added = try await user.spawn(["host", "rules", "add", "allow", "--command", "git status"])
                #expect(added.out == "Rule 1: allow any tool, command “git status”\n", "\(added)")
                let place = [
                    "host", "rules", "add", "deny", "--kind", "edit", "--path", "docs", "--project", user.directory,
                    "-q",
                ]
                #expect(try await user.spawn(place).out == "2\n")
                let rows = try await user.spawn(["host", "rules", "--json"]).json
                #expect(rows.map { $0["effect"]?.string } == ["allow", "deny"])
                #expect(rows[0]["command"]?.string == "git status" && rows[0]["projectId"] == nil)
                #expect(rows[1]["kind"]?.string == "edit" && rows[1]["path"]?.string == "docs")
                #expect(rows[1]["projectId"]?.string?.isEmpty == false)
                let name = try #require(user.directory.split(separator: "/").last.map(String.init))
                #expect(rows[1]["projectName"]?.string == name && rows[0]["projectName"] == nil)
                let table = try await user.spawn(["host", "rules"]).out
                #expect(table.contains(name) && table.contains("all"), "\(table)")
                let elsewhere = try await user.spawn([
                    "host", "rules", "add", "ask", "--kind", "edit", "--project", "x",
                ])
                #expect(elsewhere.status == 1 && elsewhere.err.contains("no project “x”"), "\(elsewhere)")
                #expect(try await user.spawn(["host", "rules", "remove", "1"]).out.hasPrefix("Removed rule 1: "))
                #expect(try await user.spawn(["host", "rules", "remove", "1"]).status == 3)
                #expect(try await user.spawn(["host", "rules", "list", "-q"]).out == "2\n")
                let audit = try await user.spawn(["host", "audit", "--json"]).json.map { $0["kind"]?.string }
                #expect(audit == ["rule.added", "rule.added", "rule.removed"])
            }
        }
    }

    @Test("A second host of the same user is refused, and the first one goes on")
    func second() async throws {
        try await Sandbox.with { user in
            try await withHost(user) { events in
                _ = try await events.first("listening")
                #expect(try await user.spawn(["host", "status", "-q"]).status == 0)
                // Another state, the same runtime directory.
                let second = try await user.spawn(
                    ["host", "run", "--json", "--port", "0", "--engine", "embedded"],
                    environment: ["XDG_DATA_HOME": user.directory + "/other"]
                )
                #expect(second.status == 1, "\(second)")
                #expect(try second.errorCode == "host.another_host")
                #expect(try await user.spawn(["host", "status", "-q"]).status == 0)
            }
            #expect(!FileManager.default.fileExists(atPath: user.directory + "/run/pairtool/host.sock"))
        }
    }

    @Test("A locked pairing is shown with the way out, and unlocked by it")
    func locked() async throws {
        try await Sandbox.with { host in
            try await Sandbox.with { stranger in
                try await withHost(host, ["--legacy"]) { events in
                    let port = try #require(try await events.first("listening")["port"])
                    guard case .number(let number) = port else { throw CancellationError() }
                    for _ in 0..<10 {
                        let shown = try await host.spawn(["host", "pair", "--json", "--show-secrets"])
                        let code = try #require(try shown.json.first?["code"]?.string, "\(shown)")
                        let tried = try await stranger.spawn(
                            ["pair", "--url", "http://127.0.0.1:\(Int(number))", "--code-stdin", "--allow-legacy"],
                            stdin: (code == "000000" ? "000001" : "000000") + "\n"
                        )
                        #expect(tried.status == 6, "\(tried)")
                    }
                    _ = try await events.first("pairing_locked")
                    let opened = try await host.spawn(["host", "pair"])
                    #expect(opened.status == 0 && opened.err.contains("pairtool host unlock"), "\(opened)")
                    let row = try #require(try await host.spawn(["host", "pair", "--json"]).json.first)
                    #expect(row["digitsLocked"] == .bool(true))
                    let status = try await host.spawn(["host", "status"])
                    #expect(status.out.contains("pairtool host unlock"))
                    #expect(try await host.spawn(["host", "unlock"]).status == 0)
                    #expect(try await host.spawn(["host", "pair"]).status == 0)
                }
            }
        }
    }
}
