import CompanionWire
import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

@testable import pairtool

/// The fakes of the demonstration, as the program that was built together with the tests.
@Suite(.timeLimit(.minutes(15))) struct FakesTests {
    private static let program = Executable.path(
        FilePath(String(BuiltTool.path.dropLast("pairtool".count)) + "companion-fakes")
    )

    @Test("Fakes are advertised, found and up", arguments: [("lumi", "lumi"), ("aicli", "aicli")])
    func advertised(command: String, family: String) async throws {
        try await Sandbox.with { user in
            try await user.withProgram(Self.program, [command, "--advertise", "lo"]) { fake in
                let line = try await fake.events.firstLine("listening") { $0["family"]?.string == family }
                let name = try #require(line["name"]?.string)
                let found = try await user.spawn([
                    "discover", "--interface", "lo", "--engine", "embedded", "--probe", "--json",
                ])
                let row = try #require(try found.json.first { $0["name"]?.string == name }, "\(found)")
                #expect(row["family"] == .text(family) && row["probe"]?["state"] == .text("up"))
            }
        }
    }

    @Test("A fake daemon has its requests for approval")
    func jarvis() async throws {
        try await Sandbox.with { user in
            try await user.withProgram(Self.program, ["jarvis"]) { fake in
                let line = try await fake.events.firstLine("listening") { $0["family"]?.string == "jarvis" }
                guard case .number(let port)? = line["port"] else { throw RunningProgram.Ended() }
                let paired = await user.run(
                    "pair",
                    "--family",
                    "jarvis",
                    "--url",
                    "http://127.0.0.1:\(Int(port))",
                    "--allow-legacy"
                )
                let listed = await user.run("approvals", "-q")
                #expect(paired.status == 0 && listed.out.split(separator: "\n").count == 3, "\(paired) \(listed)")
            }
        }
    }

    @Test("Fake providers answer an agent's prompt")
    func providers() async throws {
        try await Sandbox.with { user in
            _ = try user.pullSample(provider: "Ollama")
            try await user.withProgram(Self.program, ["providers"]) { fake in
                let line = try await fake.events.firstLine("listening") { $0["family"]?.string == "providers" }
                guard case .number(let port)? = line["port"] else { throw RunningProgram.Ended() }
                let set = await user.run("lumi", "keys", "set", "ollama", "--url", "http://127.0.0.1:\(Int(port))")
                let sent = await user.run("send", "Tides", "How?")
                #expect(set.status == 0 && sent.out.hasPrefix("Sow it"), "\(set) \(sent)")
            }
        }
    }

    @Test(
        "A fake is never on the network",
        arguments: [["lumi", "--advertise", "eth0"], ["jarvis", "--port", "70000"]]
    )
    func refused(arguments: [String]) async throws {
        let outcome = try await Subprocess.run(
            Self.program,
            arguments: Arguments(arguments),
            input: .none,
            output: .string(limit: 4096),
            error: .string(limit: 4096)
        )
        #expect(outcome.terminationStatus == .exited(64) && outcome.standardOutput.isEmpty)
    }
}
