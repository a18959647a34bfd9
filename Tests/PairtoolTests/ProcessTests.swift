import CompanionTestSupport
import CompanionWire
import Discovery
import FoundationEssentials
import Logging
import NIOConcurrencyHelpers
import Subprocess
import SystemPackage
import Terminal
import Testing

@testable import pairtool

/// The built binary itself, as a user's shell runs it.
@Suite struct ProcessTests {
    @Test(
        "Mistakes in the command line have exit code 2 and a word on standard error",
        arguments: [
            ["bogus"], ["pair", "--bogus"], ["discover", "--timeout", "0s"], ["discover", "--type", "http"],
            ["send", "one"],
            ["messages"], ["host", "--port", "70000"], ["pair", "--url", "example.org"], ["hosts", "--json", "-q"],
            ["scan"], ["qr", "--level", "X"], ["messages", "c", "--last", "0"], ["host", "--agent-command", "'"],
            ["host", "--project", ""], ["host", "--project", "/", "--project", ""],
            ["discover", "--interface", "nonesuch0"], ["discover", "--host", "127.0.0.1", "--engine", "daemon"],
        ]
    )
    func usage(arguments: [String]) async throws {
        try await Sandbox.with { user in
            let result = try await user.spawn(arguments)
            #expect(result.status == 2, "\(result)")
            #expect(result.out.isEmpty)
            #expect(!result.err.isEmpty)
        }
    }

    @Test(
        "Help and version are data: standard output, exit code 0",
        arguments: [["--version"], ["--help"], ["help", "pair"]]
    )
    func help(arguments: [String]) async throws {
        try await Sandbox.with { user in
            let result = try await user.spawn(arguments)
            #expect(result.status == 0)
            #expect(result.err.isEmpty)
            #expect(!result.out.isEmpty)
        }
    }

    /// Completes until the names have come, as someone presses Tab again: nothing is offered that takes longer than a
    /// shell should wait, and a busy machine may take longer. The last result, after at most 10 attempts.
    private func completed(
        _ complete: () async throws -> Sandbox.Result,
        until isComplete: (String) -> Bool
    ) async throws -> Sandbox.Result {
        var result = try await complete()
        for _ in 1..<10 where !isComplete(result.out) { result = try await complete() }
        return result
    }

    @Test("Completion scripts are written, and offer live names", arguments: ["bash", "zsh", "fish"])
    func completion(shell: String) async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let script = try await user.spawn(["--generate-completion-script", shell])
                #expect(script.status == 0)
                #expect(script.out.contains("messages") && script.out.contains("copilot"))
                // An option of `chats list`, offered behind `chats`.
                if shell == "fish" {
                    #expect(script.out.contains("options \"pairtool chats\" all-hosts' -l 'all-hosts'"))
                } else {
                    let function = script.out.split(separator: "\n_pairtool_chats() {", maxSplits: 1).last
                    let offer = shell == "bash" ? "\n        _pairtool_chats_list\n" : "--all-hosts"
                    #expect(function?.split(separator: "\n}").first?.contains(offer) == true)
                }
                let words = ["---completion", "chats", "list", "--", "positional@0", "1", "0", "pairtool", "chats", ""]
                let isOffered = { (out: String) in out.split(separator: "\n").contains("web") }
                let names = try await completed({ try await user.spawn(words) }, until: isOffered)
                #expect(isOffered(names.out), "\(names)")
            }
        }
    }

    @Test("bash completes the names of paired hosts and of chats, of the host that --host names or the default one")
    func completedNames() async throws {
        var other = FakeMacScript()
        other.chats = [
            CompanionChat(id: "c-roof", projectId: "p-web", title: "Roof", lastUpdatedAt: FakeMacScript.epoch)
        ]
        try await withFakeMac { mac in
            try await withFakeMac(other) { second in
                try await Sandbox.with { user in
                    for (mac, name) in [(mac, "Shed"), (second, "Attic")] {
                        let id = await user.run(
                            ["pair", "--url", mac.endpointText, "--allow-legacy", "--code-stdin", "-q"],
                            stdin: "482913\n"
                        ).out.dropLast()
                        #expect(await user.run("hosts", "rename", String(id), name).status == 0)
                    }
                    // Each line is a command line whose last word, which may be empty, is to be completed.
                    _ = try user.file(
                        "complete.bash",
                        Array(
                            """
                            PATH=${TOOL%/*}:$PATH
                            eval "$(pairtool --generate-completion-script bash)"
                            for line in "hosts default |" "hosts forget |A" "status --host |S" "messages |" "messages |Fix\\\\ t" \
                                'messages |"Fix t' "messages --host Attic |" "send |C" "chats |a"; do
                                COMP_LINE="pairtool ${line%|*}${line#*|}"
                                read -ra COMP_WORDS <<<"pairtool ${line%|*}"
                                COMP_WORDS+=("${line#*|}")
                                COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_POINT=${#COMP_LINE} COMPREPLY=()
                                _pairtool pairtool "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
                                echo "$line ${COMPREPLY[*]}"
                            done
                            """.utf8
                        )
                    )
                    let names = """
                        hosts default | Shed Attic
                        hosts forget |A Attic
                        status --host |S Shed
                        messages | Fix\\ the\\ login CORS Pagination
                        messages |Fix\\ t Fix\\ the\\ login
                        messages |"Fix t Fix the login
                        messages --host Attic | Roof
                        send |C CORS
                        chats |a api

                        """
                    let offered = try await completed(
                        { try await user.shell("TOOL='\(BuiltTool.path)' bash complete.bash") },
                        until: { $0 == names }
                    )
                    #expect(offered.out == names, "\(offered)")
                }
            }
        }
    }

    @Test("What a host calls its things cannot run as a command through the shell's completion")
    func hostileCompletion() async throws {
        var script = FakeMacScript()
        script.projects[0].id = "$(touch owned)"
        script.projects[0].name = "`touch owned`"
        script.models = [CompanionModel(id: "$(touch owned)", name: "x"), CompanionModel(id: "-rf", name: "y")]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                // As a script asks that was made before titles were offered: bash expands what it gets.
                let words = ["---completion", "chats", "list", "--", "positional@0", "1", "0", "pairtool", "chats", ""]
                for shell in ["bash", ""] {
                    let isOffered = { (out: String) in out.split(separator: "\n") == ["api"] }
                    let projects = try await completed(
                        { try await user.spawn(words, environment: ["SAP_SHELL": shell]) },
                        until: isOffered
                    )
                    #expect(isOffered(projects.out), "\(projects)")
                }
                let now = ["SAP_SHELL": "bash", CompletionScript.variable: "names"]
                let isLive = { (out: String) in out.hasPrefix("`touch owned`\napi\n") }
                let live = try await completed({ try await user.spawn(words, environment: now) }, until: isLive)
                #expect(isLive(live.out), "\(live)")
                _ = try user.file(
                    "complete.bash",
                    Array(
                        """
                        PATH=${TOOL%/*}:$PATH
                        eval "$(pairtool --generate-completion-script bash)"
                        COMP_LINE="pairtool chats " COMP_WORDS=(pairtool chats "") COMP_CWORD=2 COMP_POINT=15 COMPREPLY=()
                        _pairtool pairtool "" chats
                        printf '%s\\n' "${COMPREPLY[@]}"
                        COMP_LINE='pairtool chats "' COMP_WORDS=(pairtool chats '"') COMP_POINT=16 COMPREPLY=()
                        _pairtool pairtool "" chats
                        printf '%s\\n' "${COMPREPLY[@]}"
                        """.utf8
                    )
                )
                let isWhole = { (out: String) in
                    out.hasPrefix(
                        "\\`touch\\ owned\\`\napi\nlist\nnew\ncancel\n\\`touch owned\\`\napi\nlist\nnew\ncancel\n"
                    )
                }
                let offered = try await completed(
                    { try await user.shell("TOOL='\(BuiltTool.path)' bash complete.bash; ls") },
                    until: isWhole
                )
                #expect(isWhole(offered.out), "\(offered)")
                #expect(!offered.out.contains("\nowned\n"), "\(offered)")
                let models = await Completions.models([])
                #expect(models.isEmpty)
                #expect(!Completions.isPlain("a b") && !Completions.isPlain("ü") && Completions.isPlain("gpt-4.1:x_y"))
                #expect(!Completions.isText("-rf") && !Completions.isText("a\nb") && Completions.isText("a: b"))
            }
        }
    }

    @Test("zsh gets titles with their colons escaped, and pair is offered the hosts in sight")
    func completedTitles() async throws {
        var script = FakeMacScript()
        script.chats = [
            CompanionChat(id: "c-fix", projectId: "p-web", title: "Fix: a\\b", lastUpdatedAt: FakeMacScript.epoch),
            CompanionChat(id: "c-1", projectId: "p-web", title: "Twin", lastUpdatedAt: FakeMacScript.epoch),
            CompanionChat(id: "c-2", projectId: "p-web", title: "twin", lastUpdatedAt: FakeMacScript.epoch),
        ]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let words = ["---completion", "messages", "--", "positional@0", "2", "0", "pairtool", "messages", ""]
                let isEscaped = { (out: String) in out.hasPrefix("Fix\\: a\\\\b\nc-1\nc-2\n") }
                let zsh = try await completed(
                    { try await user.spawn(words, environment: ["SAP_SHELL": "zsh"]) },
                    until: isEscaped
                )
                #expect(isEscaped(zsh.out), "\(zsh)")
                let name = "Sight\(UUID().uuidString.prefix(6))"
                let client = CompanionDiscoveryClient(engine: .embedded, interface: "lo", logger: Logger(label: "test"))
                let advert = Advertisement(name: name, services: [(type: .companion, port: mac.port, txt: [])])
                try await client.withAdvertisement(advert) { events in
                    for await case .published in events { break }
                    let pair = ["---completion", "pair", "--", "positional@0", "2", "0", "pairtool", "pair", ""]
                    let environment = ["PAIRTOOL_INTERFACE": "lo", "PAIRTOOL_ENGINE": "embedded"]
                    let isInSight = { (out: String) in out.split(separator: "\n").contains(Substring(name)) }
                    let offered = try await completed(
                        { try await user.spawn(pair, environment: environment) },
                        until: isInSight
                    )
                    #expect(isInSight(offered.out), "\(offered)")
                }
            }
        }
    }

    @Test(
        "A host that is told to end twice at once, as `timeout` does, ends well and takes the picture of its code away"
    )
    func endsOnce() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                mkfifo events
                mkdir project
                \(BuiltTool.path) host --json --port 0 --engine embedded --project project --qr-file q.png >events 2>err &
                exec 3<events
                while read -r line <&3; do case $line in *'"challenge"'*) break ;; esac; done
                ls q.png
                kill -INT $!
                kill -INT $!
                wait $!
                echo $?
                ls q.png
                """
            )
            #expect(result.out == "q.png\n0\n", "\(result)")
        }
    }

    @Test("A host whose reader has seen enough takes the picture of its code away, too")
    func endsByPipe() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                mkdir project
                \(BuiltTool.path) host --json --port 0 --engine embedded --project project --qr-file q.png 2>err | head -n 1
                ls
                """
            )
            let lines = result.out.split(separator: "\n")
            #expect(lines.first?.hasPrefix("{") == true, "\(result)")
            #expect(lines.dropFirst().contains("err") && !lines.contains("q.png"), "\(result)")
        }
    }

    @Test("A command that is started to outlive its terminal does")
    func hangup() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                mkdir -p usb/bus/usb/devices/1-1; echo 05ac >usb/bus/usb/devices/1-1/idVendor; mkfifo talk
                PAIRTOOL_SYSFS=usb nohup \(BuiltTool.path) discover --first --timeout 2s --type _nobody._tcp \
                  --interface lo --engine embedded 2>talk &
                exec 3<talk
                read -r line <&3
                kill -HUP $!
                wait $!
                echo "$? $line"
                """
            )
            #expect(result.out.hasPrefix("3 An Apple device"), "\(result)")
        }
    }

    @Test("A host whose port for HTTPS is taken says that, and nothing of the server that it ends for it")
    func takenPort() async throws {
        try await withFakeMac { taken in
            try await withProject { host, _ in
                let ports = ["--port", "0", "--tls-port", "\(taken.port)", "--engine", "embedded"]
                // What ends first is a matter of chance.
                for _ in 0..<5 {
                    let result = try await host.spawn(["host", "--project", host.directory + "/garden"] + ports)
                    #expect(result.status == 1)
                    #expect(result.err.contains("pairtool: port \(taken.port) is taken"), "\(result.err)")
                    #expect(!result.err.contains(" error "), "nothing is logged: \(result.err)")
                }
            }
        }
    }

    @Test("A disk that is full is an error, not a short answer")
    func fullDisk() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell("\(BuiltTool.path) --help >/dev/full; echo $?")
            #expect(result.out == "1\n")
            #expect(result.err.contains("could not be written"))
        }
    }

    @Test("Output that the caller has closed is told from a disk that is full", arguments: ["--version", "--help"])
    func closedOutput(word: String) async throws {
        try await Sandbox.with { user in
            let closed = try await user.shell("\(BuiltTool.path) \(word) >&-")
            #expect(closed.status == 1 && closed.err.contains("could not be written: it is closed"), "\(closed)")
        }
    }

    @Test("Whoever takes the connection and keeps silent holds nobody up longer than was said")
    func silentHost() async throws {
        var script = FakeMacScript()
        script.faults = [FakeMacFault(.stall(gate: "never"), on: "/health")]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                let result = await user.run("discover", "--host", mac.endpointText, "--timeout", "1s", "--json")
                #expect(result.status == 4 && result.failed(with: "host.timed_out"), "\(result)")
                #expect(result.err.contains("did not answer in time"), "\(result)")
            }
        }
    }

    @Test("A bare file name is a file in the current directory")
    func relativeFile() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell("echo hello | \(BuiltTool.path) qr -o code.png && stat -c %a code.png")
            #expect(result.out == "600\n", "\(result)")
        }
    }

    @Test("Logs of what peers say cannot steer the terminal")
    func logs() async throws {
        let sandboxed = TerminalContext.process
        let sink = TextBuffer()
        var context = sandboxed
        context.stderr = sink
        context.environment = ["PAIRTOOL_LOG": "debug"]
        LoggingSetup.logger("test", context: context).debug("said", metadata: ["title": "a\u{1B}[2Jb\nc"])
        #expect(sink.text.contains("debug test: said title=a␛[2Jb c\n"))
    }

    @Test("No colour and no table tricks reach a pipe, and NO_COLOR is honoured")
    func noColour() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let piped = try await user.spawn(["projects"])
                #expect(!piped.out.contains("\u{1B}"))
                let coloured = await user.run(["projects"], terminal: true)
                #expect(coloured.out.contains("\u{1B}[2m"))
                let plain = await user.run(["projects"], environment: ["NO_COLOR": "1"], terminal: true)
                #expect(!plain.out.contains("\u{1B}"))
            }
        }
    }

    @Test("A reader that has seen enough ends the tool quietly")
    func closedPipe() async throws {
        var script = FakeMacScript()
        script.fill("c-login", count: 20_000)
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let result = try await user.shell("\(BuiltTool.path) messages c-login --all 2>err | head -n 3; cat err")
                #expect(result.out.split(separator: "\n").count == 3)
                #expect(!result.out.contains("rror"))
            }
        }
    }

    @Test("A signal ends a command with exit code 130", arguments: ["INT", "TERM", "HUP"])
    func interrupt(signal: String) async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                mac.change { $0.faults = [FakeMacFault(.stall(gate: "never"), on: "/companion/projects")] }
                async let result = user.shell(
                    "\(BuiltTool.path) projects & pid=$!; echo $pid > pid; wait $pid; echo $?"
                )
                try await mac.reached("never")
                let pid = try String(contentsOf: URL(filePath: user.directory + "/pid"), encoding: .utf8)
                _ = try await user.shell("kill -\(signal) \(pid)")
                #expect(try await result.out == "130\n")
            }
        }
    }

    @Test("An interrupted wait for an answer is an interrupt, not an error, and the prompt was sent once")
    func interruptedAnswer() async throws {
        var script = FakeMacScript()
        script.turns = [
            FakeMacTurn(steps: [.frame(FakeMacTurn.text("begun")), .hold("turn"), .store, .end], answer: "begun")
        ]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                async let result = user.shell(
                    "\(BuiltTool.path) send c-login hi & pid=$!; echo $pid > pid; wait $pid; echo $?"
                )
                try await mac.reached("turn")
                let pid = try String(contentsOf: URL(filePath: user.directory + "/pid"), encoding: .utf8)
                _ = try await user.shell("kill -INT \(pid)")
                #expect(try await result.out.hasSuffix("130\n"))
                #expect(mac.requests.filter { $0.path.hasSuffix("/continue") }.count == 1)
                // The turn goes on at the host: the next prompt waits for its end instead of mixing the answers.
                async let next = user.run("send", "c-login", "next")
                mac.release("turn")
                #expect(await next.status == 0)
                #expect(mac.messages(of: "c-login").map(\.text) == ["hi", "begun", "next", "You said: next"])
            }
        }
    }

    @Test("At a terminal the lines of a chat are edited, in characters and not in bytes")
    func lineEditing() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                // `script` gives the tool a terminal. Delete, and Control-B with a letter before the last one.
                _ = try user.file("keys", Array("häll\u{7F}\u{2}ö\n/quit\n".utf8))
                let result = try await user.shell(
                    "TERM=xterm LANG=C.UTF-8 script -qec '\(BuiltTool.path) chat c-login' screen < keys"
                )
                #expect(result.status == 0, "\(result)")
                let sent = try #require(mac.requests.first { $0.path.hasSuffix("/continue") })
                #expect(sent.text.contains(#""prompt":"häöl""#))
            }
        }
    }

    @Test("Secrets of the sandbox stay in their files: keys 0600, directories 0700")
    func modes() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                let result = try await user.spawn(
                    ["pair", "--url", mac.endpointText, "--code-stdin", "--allow-legacy"],
                    stdin: "482913\n"
                )
                #expect(result.status == 0)
                let listing = try await user.shell(
                    "stat -c '%a %n' data/pairtool data/pairtool/identity.key data/pairtool/hosts.json"
                )
                #expect(
                    listing.out == "700 data/pairtool\n600 data/pairtool/identity.key\n600 data/pairtool/hosts.json\n"
                )
            }
        }
    }
}

extension Sandbox {
    /// Runs a line of shell in the sandbox's directory.
    func shell(_ line: String) async throws -> Result {
        let outcome = try await Subprocess.run(
            .path("/bin/sh"),
            arguments: ["-c", line],
            environment: processEnvironment([:]),
            workingDirectory: FilePath(directory),
            output: .string(limit: 16 << 20),
            error: .string(limit: 1 << 20)
        )
        let status: Int32 = if case .exited(let code) = outcome.terminationStatus { code } else { -1 }
        return Result(status: status, out: outcome.standardOutput, err: outcome.standardError)
    }
}
