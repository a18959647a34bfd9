import CompanionTestSupport
import CompanionWire
import Doctor
import FoundationEssentials
import LocalState
import Testing

@testable import pairtool

@Suite struct DiagnosticsTests {
    private static let known: [(text: String, placeholder: String)] = [
        ("Mac of Ada", "host-1"), ("192.168.1.23", "host-1"), ("eth0", "interface-1"), ("/home/ada", "HOME"),
        ("ada", "this-user"),
    ]

    @Test(
        "What is known gets its placeholder, and what is not known is left out",
        arguments: [
            (
                "Mac of Ada: answers at 192.168.1.23:7878 (trust: legacy)",
                "host-1: answers at host-1:7878 (trust: legacy)"
            ),
            ("MAC OF ADA is on eth0", "host-1 is on interface-1"),
            ("/home/ada/.local/share: it is damaged", "HOME/.local/share: it is damaged"),
            ("10.0.0.7 fe80::1:2 00:11:22:33:44:55", "… … …"),
            ("this device was replaced by Grace's iPhone (9f8e7d6c)", "this device was replaced by … … (…)"),
            ("token=c2VjcmV0 123456 482913", "… … …"),
            ("ada is no Adam, adabot or 7ada", "this-user is no …, … or …"),
            ("12 files and directories, readable by you only", "12 files and directories, readable by you only"),
            ("avahi 0.8 runs as marmalade.local", "avahi 0.8 runs as …"),
            ("e\u{301}\u{202E}\u{1B}[2J", "…"), ("", ""), ("…", "…"),
        ]
    )
    func redacted(text: String, expected: String) {
        #expect(Redactor(Self.known).text(text) == expected)
    }

    @Test("Every piece of advice stays readable")
    func advice() {
        let redactor = Redactor([])
        for advice in Advice.allCases {
            let text = redactor.text(advice.text([:]))
            let lost = text.unicodeScalars.count { $0 == "…" }
            #expect(lost <= 3, "\(advice): \(text)")
        }
    }

    @Test("Nothing of names, addresses, ids and texts comes out; requests, losses and failures do")
    func planted() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let id = await user.run("hosts", "-q").out.trimmingWhitespace()
                #expect(await user.run("hosts", "rename", id, "Marmalade Sandwich").status == 0)
                #expect(await user.run("send", "--new", "--project", "web", "quince jelly").status == 0)
                #expect(await user.run("messages", "c-login").status == 0)
                #expect(await user.run("messages", "no such chat").status == 3)
                mac.change { $0.faults = [FakeMacFault(.reset)] }
                #expect(await user.run("projects").status == 0)
                mac.change { $0.faults = [] }

                let log = "error: the connection was refused\ntoken=c2VjcmV0 of Marmalade at /Users/ada/quince\n"
                try Data(log.utf8).write(to: URL(filePath: user.directory + "/state/pairtool/agent.log"))
                let config = user.directory + "/.config/pairtool"
                try FileManager.default.createDirectory(atPath: config, withIntermediateDirectories: true)
                try Data("[notifications]\nfinished = false\n".utf8).write(to: URL(filePath: config + "/config.toml"))
                let words = ["diagnostics", "--interface", "lo", "--engine", "embedded"]
                let (text, json) = (await user.run(words), await user.run(words + ["--json"]))
                #expect(text.status == 0 && json.status == 0, "\(text) \(json)")
                var planted = [id, "armalade", "andwich", "quince", "jelly", "c-login", user.directory, "482913"]
                planted += ["127.0.0.1", mac.endpointText, MachineName.current, "/Users/"]
                for result in [text, json] {
                    for secret in planted {
                        #expect(!(result.out + result.err).contains(secret), "\(secret) in \(result)")
                    }
                }
                let report = try #require(try json.json.first)
                #expect(text.out.contains("\n  error: the connection was refused\n"), "\(text)")
                #expect(report["agentLog"].map { "\($0)" }?.contains("the connection was refused") == true, "\(report)")
                #expect(text.out.contains("  notifications  question, error\n"), "\(text)")
                guard case .list(let connections)? = report["connections"], let connection = connections.first else {
                    Issue.record("no connections: \(json)")
                    return
                }
                #expect(connection["host"]?.string == "host-1")
                guard case .number(let requests)? = connection["requests"], case .number(let lost)? = connection["lost"]
                else {
                    Issue.record("no numbers: \(connection)")
                    return
                }
                #expect(lost >= 1 && requests >= lost + 3)
                #expect(text.out.contains("host-1: \(Int(requests)), \(Int(lost)) lost; median"))
                #expect(text.out.contains("  messages: exit code 3, "), "\(text)")
                #expect(text.out.contains("host-1: answers at host-1 (trust: legacy)"), "\(text)")
            }
        }
    }

    @Test("It is saved only after it was shown and confirmed, or with --yes")
    func saved() async throws {
        try await Sandbox.with { user in
            let words = ["diagnostics", "--interface", "lo", "--engine", "embedded"]
            let file = user.directory + "/report.txt"
            let refused = await user.run(words + ["-o", file, "--json"])
            #expect(refused.status == 2 && refused.failed(with: "diagnostics.unconfirmed"), "\(refused)")
            let no = await user.run(words + ["-o", file], stdin: "n\n", environment: ["PAGER": "cat"], terminal: true)
            #expect(no.status == 0 && no.out.contains("Settings") && no.err.contains("Nothing was saved."), "\(no)")
            #expect(!FileManager.default.fileExists(atPath: file))
            let unseen = await user.run(words + ["-q", "-o", file, "--yes"])
            #expect(unseen.status == 2 && !FileManager.default.fileExists(atPath: file), "\(unseen)")
            let yes = await user.run(words + ["-o", file, "--yes"])
            #expect(yes.status == 0)
            let saved = try String(contentsOf: URL(filePath: file), encoding: .utf8)
            #expect(saved == yes.out)
            #expect(FileStatus(file)?.permissions == 0o600)
        }
    }
}
