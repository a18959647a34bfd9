import ArgumentParser
import CompanionTestSupport
import CompanionWire
import Testing

@testable import pairtool

/// What a user sees of the command line itself: help, mistakes, and commands that have moved.
@Suite struct CommandWordsTests {
    @Test(
        "A mistyped command gets the nearest one, and words of other tools get what they are called here",
        arguments: [
            (["project"], "`projects`?"), (["discoverr"], "`discover`?"), (["ls"], "`projects` or `hosts`?"),
            (["version"], "`--version`?"), (["unpair"], "`hosts forget` or `devices revoke`?"),
            (["delete"], "`hosts forget` or `devices revoke`?"), (["rm"], "`hosts forget` or `devices revoke`?"),
            (["host", "rum"], "`host run`?"), (["hosts", "rm"], "`hosts forget`?"), (["hosts", "ls"], "`hosts list`?"),
            (["devices", "delete"], "`devices revoke`?"), (["lumi", "remotee"], "`lumi remote`?"),
            (["remotee"], "`lumi remote`?"), (["lumi", "remote", "screenshoot"], "`lumi remote screenshot`?"),
            (["help", "projectz"], "`projects`?"),
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

    @Test(
        "A moved command does with its old words what it does with its new ones, and names the new ones once",
        arguments: [
            (["remote", "volume", "--host", "x"], ["lumi", "remote", "volume", "--host", "x"]),
            (["agents", "list", "--json"], ["lumi", "agents", "list", "--json"]),
            (["keys", "set", "--provider", "none"], ["lumi", "keys", "set", "--provider", "none"]),
            (["sessions", "cleanup", "--json"], ["aicli", "sessions", "cleanup", "--json"]),
            (["aicli", "outbox", "remove", "3f2a"], ["outbox", "remove", "3f2a"]),
            (["approvals", "health", "--via", "cloud"], ["jarvis", "health", "--via", "cloud"]),
        ]
    )
    func moved(old: [String], new: [String]) async throws {
        try await Sandbox.with { user in
            let (before, after) = (await user.run(old), await user.run(new))
            #expect(before.status == after.status && before.out == after.out, "\(before) \(after)")
            let lines = before.err.split(separator: "\n").map(String.init)
            let notices = lines.filter { $0.contains(" is now ") }
            #expect(notices.count == (old.contains("--json") ? 0 : 1), "\(before)")
            #expect(lines.filter { !notices.contains($0) } == after.err.split(separator: "\n").map(String.init))
            #expect(!after.err.contains(" is now "), "\(after)")
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
                    == "pairtool: unknown option '--hots'. Did you mean '--host'?\n  next: pairtool projects --help\n"
            )
            let both = await user.run("hosts", "--json", "-q")
            #expect(both.err.contains(#""message":"--json and --quiet cannot be used together""#), "\(both)")
            let missing = await user.run("messages")
            #expect(missing.err.hasPrefix("pairtool: missing expected argument"), "\(missing)")
            #expect(missing.err.contains("next: pairtool messages --help"))
            #expect(await user.run("devices", "--bogus").err.contains("next: pairtool devices list --help"))
        }
    }

    @Test(
        "The old name of an option still works, and help shows only the new one",
        arguments: [
            (["host", "approvals", "reject"], ["7b0e"], "--always", "--never"),
            (["search"], ["pump"], "--all-hosts", "--host"),
        ]
    )
    func oldOptions(command: [String], arguments: [String], old: String, new: String) async throws {
        try await Sandbox.with { user in
            let (plain, before) = (await user.run(command + arguments), await user.run(command + arguments + [old]))
            #expect(plain.status != 2 && before.status == plain.status && before.err == plain.err, "\(before)")
            let help = await user.run(command + ["--help"]).out
            #expect(help.contains(new) && !help.contains(old), "\(help)")
        }
        let (always, once) = (try HostRejectCommand.parse(["7b0e", "--always"]), try HostRejectCommand.parse(["7b0e"]))
        #expect(always.isForLater && !once.isForLater)
    }

    @Test("--json and -q may come before the command, and between its words")
    func optionsFirst() async throws {
        try await Sandbox.with { user in
            for words in [["--json", "hosts"], ["hosts", "--json", "list"], ["--json", "hosts", "list"]] {
                let result = await user.run(words)
                #expect(result.status == 3 && result.failed(with: "hosts.none"), "\(words) \(result)")
            }
            #expect(await user.run("-q", "hosts").status == 3)
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
            #expect(root.contains("\nFIND AND PAIR SUBCOMMANDS:\n  discover "), "\(root)")
            #expect(await user.run("host", "help").out == (await user.run("help", "host").out))
        }
    }

    @Test("Commands that have moved work under their old names, and say the new one to people only")
    func moved() async throws {
        try await Sandbox.with { user in
            let old = await user.run("sessions", "end", "x")
            #expect(
                old.status == 5
                    && old.err.hasPrefix("`pairtool sessions end` is now `pairtool aicli sessions end`.\n")
            )
            #expect(old.err.ranges(of: "is now").count == 1, "once")
            for words in [["keys", "--json"], ["--json", "keys"], ["keys", "-q"]] {
                let result = await user.run(words)
                #expect(result.status == 0 && result.err.isEmpty, "\(words) \(result)")
            }
            #expect(await user.run("keys", "list").out == (await user.run("lumi", "keys").out))
            #expect(await user.run("approvals", "health").err.contains("is now `pairtool jarvis health`"))
            let help = await user.run("--help").out
            for word in ["remote", "sync", "agents", "automations", "keys"] {
                #expect(!help.contains("\n  \(word) "), "\(word)")
                #expect(await user.run("help", word).out.contains("USAGE: pairtool "), "\(word)")
            }
        }
    }

    @Test("Old names of options go on working, and help does not show them")
    func options() async throws {
        try await Sandbox.with { user in
            for (command, old) in [("host permissions", "--set"), ("chat", "--history")] {
                let words = command.split(separator: " ").map(String.init)
                #expect(!(await user.run(words + ["--help"]).out.contains(old)), "\(old)")
            }
            #expect(await user.run("doctor", "nobody", "--interface", "lo", "--engine", "embedded").status == 5)
            #expect(
                await user.run("doctor", "--host", "nobody", "--interface", "lo", "--engine", "embedded").status == 5
            )
            #expect(await user.run("capabilities", "--host", "nobody").status == 5)
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
