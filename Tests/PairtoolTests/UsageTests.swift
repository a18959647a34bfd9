import Testing

@testable import pairtool

/// What is said of mistakes in the command line.
@Suite struct UsageTests {
    @Test("An option that is not known is named, before what else is missing", arguments: ["scan", "auto"])
    func unknownOption(command: String) async throws {
        try await Sandbox.with { user in
            let unknown = await user.run(command, "--bogus")
            #expect(unknown.status == 2 && unknown.err.contains("“--bogus”"), "\(unknown)")
            let nothing = await user.run(command)
            #expect(nothing.status == 2 && nothing.err.contains("--watch DIR"), "\(nothing)")
        }
    }

    @Test(
        "A value that is wrong is answered with what is right",
        arguments: [
            (["discover", "--timeout", "0s"], "Give a time of up to a day, such as 90s"),
            (["approvals", "--watch", "--interval", "0s"], "Give a time of up to a day, such as 90s"),
            (["pair", "--timeout", "soon"], "Give a time of up to a day, such as 90s"),
            (["discover", "--timeout", "5"], "“5” has no unit. Write 90s, 30m, 12h or 7d"),
            (["host", "pair", "--ttl", "300"], "has no unit"),
            (["discover", "--type", "bogus"], "looks like _lumiagent._tcp"),
            (["host", "pair", "--expires", "soon"], "such as 90s, 30m, 12h or 7d"),
            (["host", "--question-timeout", "soon"], "such as 90s, 30m, 12h or 7d"),
            (["host", "--question-timeout", "0s"], "such as 90s, 30m, 12h or 7d"),
            (["host", "--question-timeout", "20000d"], "such as 90s, 30m, 12h or 7d"),
            (["host", "--agent-command", "x", "--acp", "--agent-env", "1A"], "such as OPENAI_API_KEY"),
            (["host", "--agent-env", "PATH"], "need an agent from `pairtool host agents`, or --acp"),
            (["host", "--agent-command", "x", "--agent-sign-in", "key"], "or --acp"),
            (["host", "--agent", "openai", "--model", "m", "--allow-bypass"], "or --acp"),
            (["host", "--quota", "chats=many"], "such as chats=20 or size=10M, or none"),
            (["host", "--quota", "planets=9"], "such as chats=20 or size=10M, or none"),
            (["send", "chat", "hi", "--image", "/dev/null"], "/dev/null: "),
            (["scan", ""], "the name of a file is empty"), (["qr", ""], "the name of a file is empty"),
            (["qr", "--format", "terminal", "-o", "t.txt"], "--format terminal draws on standard output"),
        ]
    )
    func values(arguments: [String], hint: String) async throws {
        try await Sandbox.with { user in
            let result = await user.run(arguments)
            #expect(result.status == 2 && result.err.contains(hint), "\(result)")
        }
    }

    @Test("A host that does not start does not say that it serves, and a missing directory is nothing found")
    func noHost() async throws {
        try await Sandbox.with { user in
            let missing = try await user.spawn(["host", "--json", "--project", user.directory + "/nope"])
            #expect(missing.status == 3 && missing.failed(with: "host.invalid_project"), "\(missing)")
            let agentless = try await user.spawn(["host", "--agent-command", user.directory + "/nope"])
            #expect(agentless.status == 11 && !agentless.err.contains("Serving"), "\(agentless)")
        }
    }

    @Test("The help shows what a time is without the option")
    func defaults() async throws {
        try await Sandbox.with { user in
            #expect(await user.run("pair", "--help").out.contains("Default: 10s."))
        }
    }

    @Test(
        "What the command line holds cannot steer the terminal",
        arguments: [["bo\u{1B}[31mgus"], ["pair", "--url", "x\u{1B}[31m"], ["scan", "--camera", "x\u{1B}[31m"]]
    )
    func escapes(arguments: [String]) async throws {
        try await Sandbox.with { user in
            let result = await user.run(arguments)
            #expect(result.status == 2 && !result.err.contains("\u{1B}") && result.err.contains("␛[31m"), "\(result)")
        }
    }

    @Test("The values of an option that has many are one line")
    func values() async throws {
        try await Sandbox.with { user in
            let result = await user.run("lumi", "remote", "media", "demo")
            #expect(result.status == 2)
            #expect(
                result.err.contains("one of the following: play, pause, toggle, next, previous, stop"),
                "\(result.err)"
            )
            #expect(!result.err.contains("  - "))
        }
    }

    @Test("A bus that is not there is told of in words")
    func deadBus() async throws {
        try await Sandbox.with { user in
            let environment = [
                "WAYLAND_DISPLAY": "wayland-0", "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(user.directory)/none",
            ]
            let result = await user.run("scan", "--screen", environment: environment)
            #expect(result.err.contains("/none cannot be reached: No such file or directory\n"), "\(result)")
        }
    }
}
