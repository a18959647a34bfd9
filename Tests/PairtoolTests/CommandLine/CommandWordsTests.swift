import ArgumentParser
import CompanionTestSupport
import CompanionWire
import Testing

@testable import pairtool

/// What a user sees of the command line itself: help and mistakes.
@Suite struct CommandWordsTests {
    @Test(
        "A mistyped command gets the nearest one, and words of other tools get what they are called here",
        arguments: [
            (["project"], "`projects`?"), (["chatt"], "`chat`?"), (["discoverr"], "`discover`?"),
            (["ls"], "`projects` or `hosts`?"),
            (["version"], "`--version`?"), (["unpair"], "`hosts forget` or `devices revoke`?"),
            (["delete"], "`hosts forget` or `devices revoke`?"), (["rm"], "`hosts forget` or `devices revoke`?"),
            (["host", "rum"], "`host run`?"), (["hosts", "rm"], "`hosts forget`?"), (["hosts", "ls"], "`hosts list`?"),
            (["devices", "delete"], "`devices revoke`?"), (["lumi", "remotee"], "`lumi remote`?"),
            (["lumi", "remote", "screenshoot"], "`lumi remote screenshot`?"),
            (["help", "projectz"], "`projects`?"), (["cancel", "c-login"], "`chats cancel`?"),
            (["new", "chat"], "`projects new` or `chats new`?"), (["capabilities"], "`status`?"),
            (["sessions"], "`worktrees` or `aicli sessions`?"),
        ]
    )
    func nearest(words: [String], suggestion: String) async throws {
        try await Sandbox.with { user in
            let result = await user.run(words)
            #expect(result.status == 2 && result.out.isEmpty, "\(result)")
            #expect(
                result.err.hasPrefix("pairtool: ") && result.err.contains("did you mean \(suggestion)"),
                "\(result)"
            )
        }
    }

    @Test("A word that is like no command is refused without a guess", arguments: [["xyzzy"], ["help", "xyzzy"]])
    func noGuess(words: [String]) async throws {
        try await Sandbox.with { user in
            let result = await user.run(words)
            #expect(result.status == 2)
            #expect(result.err == "pairtool: there is no command “xyzzy”\n  next: pairtool --help\n")
            let json = await user.run(words + ["--json"])
            #expect(json.status == 2 && json.failed(with: "usage"))
        }
    }

    @Test("Mistakes in options are told in the style of other errors, with the command whose help to read")
    func style() async throws {
        try await Sandbox.with { user in
            let option = await user.run("projects", "--hots", "x")
            #expect(option.status == 2)
            #expect(
                option.err
                    == "pairtool: unknown option “--hots”; did you mean “--host”?\n  next: pairtool projects --help\n"
            )
            for (words, message) in [
                (["projects", "--josn"], "unknown option “--josn”; did you mean “--json”?"),
                (["pair", "--code", "123456"], "unknown option “--code”; did you mean “--code-stdin”?"),
                (["pair", "--qr"], "missing value for “--qr FILE”"),
                (["discover", "--timeout", "5"], "the value “5” is invalid for “--timeout TIME”: “5” has no unit. "),
                (["pair", "123456"], "leave out the digits, which others could see on the command line: "),
                (["pair", "192.168.1.20"], "to pair by address: pairtool pair --url http://192.168.1.20:7878"),
                (["pair", "fe80::1"], "to pair by address: pairtool pair --url http://[fe80::1]:7878"),
                (["pair", "http://10.0.0.1:7878"], "to pair by address: pairtool pair --url http://10.0.0.1:7878"),
                (["pair", "shot.PNG"], "to read the code in a picture: pairtool pair --qr shot.PNG"),
            ] {
                let result = await user.run(words)
                #expect(result.status == 2 && result.err.hasPrefix("pairtool: \(message)"), "\(result)")
            }
            let both = await user.run("hosts", "--json", "-q")
            #expect(both.err.contains(#""message":"--json and --quiet cannot be used together""#), "\(both)")
            let missing = await user.run("messages")
            #expect(missing.err.hasPrefix("pairtool: missing expected argument"), "\(missing)")
            #expect(missing.err.contains("next: pairtool messages --help"))
            #expect(await user.run("devices", "--bogus").err.contains("next: pairtool devices --help"))
        }
    }

    @Test("--json and -q may come before the command, and between its words")
    func optionsFirst() async throws {
        try await Sandbox.with { user in
            for words in [["--json", "hosts"], ["hosts", "--json", "list"], ["--json", "hosts", "list"]] {
                let result = await user.run(words)
                #expect(result.status == 0 && result.out.isEmpty, "\(words) \(result)")
                #expect(result.err == "No host is paired yet. Next: pairtool pair\n", "\(result)")
            }
            let quiet = await user.run("-q", "hosts")
            #expect(quiet.status == 0 && quiet.out.isEmpty && quiet.err.isEmpty, "\(quiet)")
            #expect(await user.run("--json").status == 2)
            #expect(await user.run("--json", "--version").out == Version.text + "\n")
        }
    }

    @Test("Help comes from either order of the words, and groups the commands")
    func help() async throws {
        try await Sandbox.with { user in
            let pair = await user.run("pair", "--help").out
            #expect(pair.contains("Pair with a host") && pair.contains("USAGE: pairtool pair "), "\(pair)")
            let root = await user.run("--help").out
            #expect(root.contains("\n\nFIND AND PAIR\n  discover    Find the hosts on your network.\n"), "\(root)")
            let lines = root.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 40 && lines.allSatisfy { $0.utf8.count <= 80 }, "\(lines.count) \(root)")
            #expect(await user.run().out == root)
            let host = await user.run("host", "--help").out
            #expect(await user.run("host", "help").out == host)
            #expect(await user.run("help", "host").out == host)
        }
    }

    @Test("A command with subcommands shows the options of its default one, with words for what they take")
    func defaultOptions() async throws {
        try await Sandbox.with { user in
            let host = await user.run("host", "--help").out
            #expect(host.contains("\n  --lan ") && host.contains("\n  --agent AGENT "), "\(host)")
            #expect(
                host.contains("\nUSAGE: pairtool host [") && host.contains("\n       pairtool host COMMAND\n"),
                "\(host)"
            )
            #expect(host.contains("\n  revoke "), "\(host)")
            let chats = await user.run("chats", "-h").out
            #expect(chats.contains("\n  PROJECT ") && chats.contains("\n  cancel "), "\(chats)")
            #expect(await user.run("approvals", "--help").out.contains("\n  --watch "))
            // Behind other options too.
            let send = await user.run("send", "--new", "--help").out
            #expect(send.contains("\n  --project PROJECT") && !send.contains("<project>"), "\(send)")
        }
    }

    @Test("Families of which no host is paired are left out of the first page, and are among all commands")
    func families() async throws {
        try await Sandbox.with { user in
            #expect(await user.run("--help").out.contains("jarvis") == false)
            let all = await user.run("help", "--all").out
            #expect(all.contains("\n  jarvis health") && all.contains("\n  aicli sessions new "), "\(all)")
        }
        try await withPairedJarvis { _, user in
            let page = await user.run("--help").out
            #expect(page.contains("\n  jarvis  ") && !page.contains("\n  lumi "), "\(page)")
        }
    }

    @Test(
        "Words and options of releases that never were are unknown",
        arguments: [
            ["remote", "volume"], ["keys"], ["sessions", "end", "x"], ["aicli", "outbox"], ["approvals", "health"],
            ["outbox", "retry", "3f2a"], ["doctor", "Studio"], ["capabilities"], ["chat", "--history", "3"],
            ["new", "project", "Beans"], ["cancel", "c-login"], ["sessions"], ["host", "sessions"], ["chat", "--new"],
            ["chats", "--project", "web"],
            ["host", "permissions", "phone", "--set", "chat.send"],
            ["host", "approvals", "reject", "7b0e", "--always"],
        ]
    )
    func gone(words: [String]) async throws {
        try await Sandbox.with { user in
            let result = await user.run(words)
            #expect(result.status == 2 && result.out.isEmpty, "\(result)")
        }
    }

    @Test("qr says how to give a text")
    func text() async throws {
        try await Sandbox.with { user in
            let result = await user.run("qr", "hello")
            #expect(result.status == 3)
            #expect(result.err.contains("reads the text from a file or from standard input"), "\(result)")
            #expect(result.err.contains("next: to draw a text: printf %s TEXT | pairtool qr"))
        }
    }
}

/// The nearest word.
@Suite struct NearestWordTests {
    @Test(
        "One or two typing errors are forgiven, by the length of the word; a beginning will do",
        arguments: [
            ("gardne", "garden"), ("gardn", "garden"), ("GARDEN", "garden"), ("kitchn", "kitchen"),
            ("ktichen", "kitchen"),
            ("kit", "kitchen"), ("übrsicht", "Übersicht"),
        ]
    )
    func near(word: String, meant: String) {
        #expect(NearestWord.of(word, in: ["garden", "kitchen", "Übersicht"]) == meant)
    }

    @Test("What is like nothing finds nothing", arguments: ["", "x", "ki", "garage door", "house"])
    func far(word: String) {
        #expect(NearestWord.of(word, in: ["garden", "kitchen"]) == nil)
    }
}
