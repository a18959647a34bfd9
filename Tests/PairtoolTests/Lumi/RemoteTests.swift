import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import Testing

@testable import pairtool

@Suite struct RemoteTests {
    @Test(
        "Each command is sent as the protocol has it, and its result is shown",
        arguments: [
            (["open", "Visual Studio Code"], "open_application", ["name": "Visual Studio Code"], "Opened Visual"),
            (["open", "https://a/b?c=d&e"], "launch_url", ["url": "https://a/b?c=d&e"], "Opened https"),
            (["quit", "Safari"], "quit_application", ["name": "Safari"], "Quit Safari"),
            (["notify", "Done", "--title", "CI"], "send_notification", ["title": "CI", "message": "Done"], "sent"),
            (["media", "next"], "media_next", [:], "Next track"),
            (["media"], "media_get_info", [:], "Title: Clair de lune\nArtist"),
            (["key", "cmd+shift+t"], "press_key", ["key": "t", "modifiers": "command,shift"], "Pressed t"),
            (["type", "a \"b\""], "type_text", ["text": "a \"b\""], "Typed 5 characters."),
            (["mouse", "move", "10", "20"], "move_mouse", ["x": "10", "y": "20"], "Mouse moved"),
            (["mouse", "move", "--", "-10", "20"], "move_mouse", ["x": "-10", "y": "20"], "Mouse moved"),
            (["mouse", "click", "1", "2"], "click_mouse", ["button": "left", "x": "1", "y": "2"], "click left"),
            (["mouse", "click", "--right"], "click_mouse", ["button": "right"], "click right"),
            (["mouse", "scroll", "down", "40"], "scroll_mouse", ["delta_x": "0", "delta_y": "-40"], "scrolled"),
            (["shell", "--yes", "uptime"], "run_shell_command", ["command": "uptime"], "load averages"),
            (["applescript", "--yes", "beep"], "run_applescript", ["script": "beep"], "\n"),
        ] as [([String], String, [String: String], String)]
    )
    func commands(words: [String], name: String, parameters: [String: String], shown: String) async throws {
        try await withPairedLumi { host, user async throws in
            let result = await user.run(["lumi", "remote"] + words)
            #expect(result.status == 0, "\(result)")
            #expect(host.commands.last?.name == name)
            #expect(host.commands.last?.parameters == parameters)
            #expect(shown == "\n" ? result.out == shown : result.out.contains(shown), "\(result.out)")
            let early = host.commands.filter { !$0.isApproved && $0.name != "ping" }
            #expect(early.isEmpty, "nothing but a ping goes before the Mac's user has accepted")
        }
    }

    @Test("Volume, brightness and mute are set and shown")
    func levels() async throws {
        try await withPairedLumi { host, user async throws in
            #expect(await user.run("lumi", "remote", "volume").out == "50%\n")
            #expect(await user.run("lumi", "remote", "volume", "25%").out == "25%\n")
            #expect(await user.run("lumi", "remote", "volume", "-q").out == "25\n")
            #expect(host.script.volume == 25)
            #expect(await user.run("lumi", "remote", "brightness", "5").out == "5%\n")
            #expect(host.script.brightness == "0.05")
            #expect(await user.run("lumi", "remote", "mute").out == "muted\n")
            #expect(await user.run("lumi", "remote", "mute", "toggle").out == "not muted\n")
            let json = await user.run("lumi", "remote", "mute", "show", "--json")
            #expect(try json.json.first?["muted"] == .bool(false))
        }
    }

    @Test(
        "What a Mac would read as part of a script is refused before anybody is asked",
        arguments: [
            ["volume", "50; say hi"], ["volume", "101"], ["volume", "50\" & do shell script \"id"],
            ["brightness", "2 && id"],
            ["open", "http://a/\"; rm -rf ~; \""], ["open", "https://a/$(id)"], ["open", "file:///etc/passwd"],
            ["open", "Music\" to quit"], ["open", "`id`"], ["quit", "a\\"], ["quit", "../../bin/sh"],
            ["notify", "a\" & (do shell script \"id\") & \""], ["notify", "ok", "--title", "\\"],
            ["key", "return\" & \""], ["key", "nonsense"], ["media", "play; id"], ["mouse", "move", "1e9", "0"],
            ["mouse", "click", "1"], ["mouse", "scroll", "up", "0"], ["type", "\u{1B}[2J"], ["shell", "--yes", " "],
        ]
    )
    func injection(words: [String]) async throws {
        try await withPairedLumi { host, user async throws in
            let before = host.connections
            let result = await user.run(["lumi", "remote"] + words)
            #expect(result.status == 2, "\(result)")
            #expect(!result.err.isEmpty)
            #expect(host.connections == before)
        }
    }

    @Test("A shell command and a script are confirmed, or they are not run")
    func confirmation() async throws {
        try await withPairedLumi { host, user async throws in
            for words in [["shell", "rm -rf ~"], ["applescript", "beep"]] {
                let before = host.connections
                let unasked = await user.run(["lumi", "remote"] + words + ["--json"])
                #expect(unasked.status == 2)
                #expect(try unasked.errorCode == "remote.unconfirmed")
                let no = await user.run(["lumi", "remote"] + words, stdin: "n\n", terminal: true)
                #expect(no.status == 1)
                #expect(no.err.contains(words[1]), "it is shown what would run")
                #expect(host.connections == before, "nobody at the Mac was asked for anything")
                let yes = await user.run(["lumi", "remote"] + words, stdin: "y\n", terminal: true)
                #expect(yes.status == 0, "\(yes)")
            }
            let piped = await user.run("lumi", "remote", "shell", "--yes", "-", stdin: "echo hi\n")
            #expect(piped.out == "hi\n")
        }
    }

    @Test("What a Mac says reaches the terminal without control and bidi characters")
    func hostileText() async throws {
        var script = FakeLumiScript()
        script.shell["evil"] = "\u{1B}]0;owned\u{7}\u{202E}gnp\u{9B}31m"
        script.apps = ["Fin\u{1B}[2Jder"]
        try await withPairedLumi(script) { _, user async throws in
            let shell = await user.run("lumi", "remote", "shell", "--yes", "evil")
            let apps = await user.run("lumi", "remote", "apps")
            let json = await user.run("lumi", "remote", "apps", "--json")
            for text in [shell.out, apps.out, json.out] {
                #expect(!text.isEmpty)
                let unsafe = text.unicodeScalars.filter { $0 != "\n" && ($0.value < 0x20 || $0.value == 0x9B) }
                #expect(unsafe.isEmpty)
                #expect(!text.contains("\u{202E}"))
            }
        }
    }

    @Test("Pings are measured")
    func ping() async throws {
        try await withPairedLumi { host, user async throws in
            let result = await user.run("lumi", "remote", "ping", "--count", "3", "--json")
            let row = try #require(try result.json.first)
            #expect(row["received"] == .number(3))
            #expect(row["generation"] == .number(3))
            guard case .number(let shortest)? = row["minMs"], case .number(let longest)? = row["maxMs"] else {
                return #expect(Bool(false), "\(result)")
            }
            #expect(shortest > 0 && shortest <= longest)
            #expect(await user.run("lumi", "remote", "ping").out.contains("5 of 5 answered"))
            #expect(Set(host.commands.map { $0.parameters["device_name"] }) == ["desk"])
        }
    }

    @Test("Screenshots are kept for their owner only, as what they are, over nothing that exists")
    func screenshot() async throws {
        try await withPairedLumi { host, user async throws in
            let path = user.directory + "/screen.jpg"
            let result = await user.run("lumi", "remote", "screenshot", "-o", path, "--json")
            #expect(result.status == 0, "\(result)")
            #expect(try result.json.first?["type"]?.string == "png")
            #expect(try PrivateFile.read(path) == FakeLumiScript.screen)
            #expect(FileStatus(path)?.permissions == 0o600)
            let before = host.connections
            #expect(await user.run("lumi", "remote", "screenshot", "-o", path).status == 2)
            #expect(await user.run("lumi", "remote", "screenshot", "-o", user.directory, "--force").status == 2)
            let shown = await user.run("lumi", "remote", "screenshot", "-o", "-", terminal: true)
            #expect(
                shown.status == 2 && shown.out.isEmpty && shown.err.contains("cannot show the bytes of a picture"),
                "\(shown)"
            )
            #expect(host.connections == before)
            #expect(await user.run("lumi", "remote", "screenshot", "-o", path, "--force").status == 0)
        }
    }

    @Test("A screenshot goes through a link, which stays")
    func screenshotThroughLink() async throws {
        try await withPairedLumi { _, user async throws in
            let link = user.directory + "/link.png"
            try FileManager.default.createSymbolicLink(
                atPath: link,
                withDestinationPath: try user.file("screen.png", Array("old".utf8))
            )
            let result = await user.run("lumi", "remote", "screenshot", "-o", link, "--force")
            #expect(result.status == 0, "\(result)")
            #expect(FileStatus(link, followingLinks: false)?.kind == .link)
            #expect(try PrivateFile.read(user.directory + "/screen.png") == FakeLumiScript.screen)
        }
    }

    @Test("Where a screenshot cannot go to, the Mac is not asked for one", arguments: ["dead.png", "none/a.png"])
    func screenshotNowhere(name: String) async throws {
        try await withPairedLumi { host, user async throws in
            let dead = user.directory + "/dead.png"
            try FileManager.default.createSymbolicLink(atPath: dead, withDestinationPath: "nowhere.png")
            let before = host.connections
            let result = await user.run(
                "lumi",
                "remote",
                "screenshot",
                "-o",
                user.directory + "/" + name,
                "--force",
                "--json"
            )
            #expect(result.status == 1 && result.failed(with: "file.unwritable"), "\(result)")
            #expect(host.connections == before && FileStatus(dead, followingLinks: false)?.kind == .link)
        }
    }

    @Test("A screenshot for standard output is all there is, whatever it is called")
    func screenshotToStandardOutput() async throws {
        try await withPairedLumi { _, user async throws in
            for name in ["-", "/dev/stdout"] {
                let result = try await user.shell("\(BuiltTool.path) lumi remote screenshot -o \(name) >shot.png")
                #expect(result.status == 0 && result.out.isEmpty, "\(result)")
                #expect(try PrivateFile.read(user.directory + "/shot.png") == FakeLumiScript.screen)
                let both = try await user.spawn(["lumi", "remote", "screenshot", "-o", name, "--json"])
                #expect(both.status == 2, "\(both)")
            }
        }
    }

    @Test("Pictures are drawn where the terminal can, and refused kindly where it cannot")
    func drawing() async throws {
        try await withPairedLumi { host, user async throws in
            func show(_ environment: [String: String]) async -> Sandbox.Result {
                await user.run("lumi", "remote", "screenshot", "--show", environment: environment, terminal: true)
            }
            let encoded = Base64.encode(FakeLumiScript.screen)
            let kitty = await show(["TERM": "xterm-kitty"])
            #expect(kitty.out.hasPrefix("\u{1B}_Ga=T,f=100,q=2,m=0;"))
            #expect(kitty.out.contains(encoded))
            let inline = await show(["TERM_PROGRAM": "iTerm.app"])
            #expect(inline.out.contains("\u{1B}]1337;File=inline=1;size=\(FakeLumiScript.screen.count)"))
            let blocks = await show(["TERM": "xterm-256color", "COLORTERM": "truecolor"])
            #expect(blocks.out.contains("▀"))
            #expect(blocks.out.split(separator: "\n").count == 15, "30 rows of pixels, two a line")
            #expect(blocks.out.contains("38;2;235;235;240"), "in its own colours")
            let multiplexed = await show(["TERM": "xterm-kitty", "TMUX": "/tmp/tmux", "COLORTERM": "truecolor"])
            #expect(multiplexed.out.contains("▀"))
            let before = host.connections
            for environment in [["TERM": "dumb"], ["TERM": "xterm"], ["COLORTERM": "truecolor", "NO_COLOR": "1"]] {
                let result = await show(environment)
                #expect(result.status == 2, "\(result)")
                #expect(result.err.contains("-o FILE"))
            }
            #expect(host.connections == before)
        }
    }

    @Test("The only Lumi host is meant where the default host is none")
    func onlyOne() async throws {
        try await withFakeMac { mac in
            try await withFakeLumi { host in
                try await Sandbox.with { user in
                    await user.pair(mac)
                    await user.pair(host)
                    #expect(await user.run("lumi", "remote", "volume").out == "50%\n")
                    #expect(await user.run("lumi", "remote", "shell", "--yes", "echo hi").out == "hi\n")
                    #expect(await user.run("lumi", "remote", "volume", "--host", "nobody").status == 5)
                }
            }
        }
    }

    @Test("A host is spoken to where it was paired, and nowhere else that is named")
    func places() async throws {
        try await withPairedLumi { host, user async throws in
            #expect(await user.run("lumi", "remote", "volume", "--host", "127.0.0.1").out == "50%\n")
            #expect(await user.run("lumi", "remote", "volume", "--host", host.endpointText).out == "50%\n")
            for elsewhere in ["127.0.0.2", "127.0.0.1:1"] {
                for words in [["lumi", "remote", "volume"], ["lumi", "sync"], ["lumi", "agents"], ["projects"]] {
                    let before = host.connections
                    let result = await user.run(words + ["--host", elsewhere, "--json"])
                    #expect(result.status == 5, "\(words) \(result)")
                    #expect(try result.errorCode == "host.unknown")
                    #expect(host.connections == before)
                }
            }
        }
    }

    @Test("Hosts of other families cannot be controlled, and that is said")
    func otherFamily() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user async throws in
                await user.pair(mac)
                for words in [
                    ["lumi", "remote", "volume"], ["lumi", "sync"], ["lumi", "remote", "shell", "--yes", "id"],
                ] {
                    let result = await user.run(words + ["--json"])
                    #expect(try result.errorCode == "host.cannot")
                }
            }
        }
    }
}
