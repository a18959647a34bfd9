import CompanionTestSupport
import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

@testable import pairtool

/// Commands for a Mac that are typed one after the other.
@Suite(.timeLimit(.minutes(15))) struct RemotePromptTests {
    @Test("Commands in a row need one approval, and go over one connection")
    func row() async throws {
        try await withPairedLumi { host, user async throws in
            let (connections, pings) = (host.connections, host.commands("ping").count)
            let lines = "volume 30\n\nvolume\nopen \"Visual Studio Code\"\nshell --yes uptime\n"
            let result = await user.run("lumi", "remote", stdin: lines)
            #expect(result.status == 0 && result.out.hasPrefix("30%\n30%\nOpened Visual Studio Code"), "\(result)")
            #expect(result.out.contains("load averages"), "\(result)")
            #expect(host.connections == connections + 1)
            #expect(host.commands("ping").count == pings + 2, "the user of the Mac is asked once")
            let json = await user.run("lumi", "remote", "--json", stdin: "volume\nmute show\n")
            #expect(try json.json.map(\.count) == [2, 2], "\(json)")
        }
    }

    @Test("From a pipe the first failure ends it, at a terminal it goes on", arguments: [false, true])
    func failure(isTerminal: Bool) async throws {
        try await withPairedLumi { host, user async throws in
            for (wrong, message) in [
                ("volume 101", "volume"), ("screenshoot", "did you mean `lumi remote screenshot`?"),
                ("open 'Music", "a quotation mark is not closed"), ("volume 5 --host Other", "the connection is to"),
                ("shell uptime", isTerminal ? "not confirmed" : "no terminal to confirm"),
            ] {
                host.change { $0.volume = 50 }
                let result = await user.run("lumi", "remote", stdin: "\(wrong)\nn\nvolume 20\n", terminal: isTerminal)
                // At a terminal, messages are wrapped.
                let words = result.err.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(words.contains(message), "\(wrong): \(result)")
                #expect(result.status == (isTerminal ? 0 : 2), "\(wrong): \(result)")
                #expect(host.script.volume == (isTerminal ? 20 : 50), "\(wrong): \(result)")
            }
        }
    }

    @Test("help lists the commands and their options")
    func help() async throws {
        try await withPairedLumi { _, user async throws in
            let result = await user.run("lumi", "remote", stdin: "help\nhelp volume\nvolume --help\n")
            #expect(result.status == 0 && result.out.contains("screenshot"), "\(result)")
            #expect(result.out.ranges(of: "USAGE: pairtool lumi remote volume").count == 2, "\(result)")
        }
    }

    @Test("A connection that ends ends the prompt, and says that the outcome is not known", arguments: [false, true])
    func lost(isTerminal: Bool) async throws {
        try await withPairedLumi { host, user async throws in
            host.change { $0.faults = [FakeLumiFault(.close, on: "set_volume", times: 1)] }
            let lines = "volume 30\nvolume 20\n"
            let result = await user.run("lumi", "remote", stdin: lines, terminal: isTerminal)
            #expect(result.status == 10, "\(result)")
            #expect(host.commands("set_volume").count == 1)
        }
    }

    @Test("Another command for the Mac waits until the prompt has ended")
    func turns() async throws {
        try await withPairedLumi { host, user async throws in
            let program = Executable.path(FilePath(BuiltTool.path))
            try await user.withProgram(program, ["lumi", "remote", "--json"]) { prompt in
                try await prompt.tell("volume 30")
                _ = try await prompt.events.firstLine("the volume") { $0["volume"] == .number(30) }
                let connections = host.connections
                let words = ["lumi", "remote", "volume", "40", "--json"]
                let (_, other) = try await user.follow(words) { follower in
                    try await follower.messages.has("Waiting for it to end.")
                    #expect(host.connections == connections)
                    // A mistake ends it.
                    try await prompt.tell("volume 101")
                }
                #expect(other.status == 0 && host.connections == connections + 1, "\(other)")
                #expect(host.script.volume == 40)
            }
        }
    }

    @Test("Commands at once connect one after the other")
    func several() async throws {
        try await withPairedLumi { host, user async throws in
            let connections = host.connections
            try await withThrowingTaskGroup(of: Void.self) { group in
                for level in 1...6 {
                    group.addTask {
                        let result = try await user.spawn(["lumi", "remote", "volume", "\(level * 10)"])
                        #expect(result.status == 0, "\(result)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(host.connections == connections + 6 && host.commands("set_volume").count == 6)
        }
    }
}
