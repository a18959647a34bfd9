import FoundationEssentials
import Glibc
import Testing

/// The built host and an agent that hides what it starts.
@Suite(.timeLimit(.minutes(15))) struct EscapedProcessTests {
    @Test("What an agent starts without its environment, session and parent ends with the turn")
    func clearedEnvironment() async throws {
        try await Sandbox.with { place in
            let file = place.directory + "/away"
            let hidden = "echo $$ >\(file).new; mv \(file).new \(file); while :; do sleep 1000; done"
            let script = """
                env -i setsid -f sh -c '\(hidden)' </dev/null >/dev/null 2>&1
                while ! [ -e \(file) ]; do sleep 0.05; done
                echo done
                """
            let agent = try place.file("agent", Array(script.utf8))
            try await withVerifiedHost(["--agent-command", "/bin/sh \(agent)"]) { _, _, user in
                let sent = await user.run("send", "--new", "--project", "garden", "dig")
                #expect(sent.status == 0 && sent.out.contains("done"), "\(sent)")
                let number = try String(contentsOfFile: file, encoding: .utf8)
                let process = try #require(pid_t(number.prefix { $0.isNumber }))
                #expect(kill(process, 0) != 0 && errno == ESRCH)
            }
        }
    }
}
