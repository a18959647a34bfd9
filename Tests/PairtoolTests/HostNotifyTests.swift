import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

@testable import pairtool

/// `pairtool host --notify` and `pairtool host notify test`, with the built binary.
@Suite(.timeLimit(.minutes(15))) struct HostNotifyTests {
    @Test(
        "A topic is sent a test; where it fails, the test, the events and the status say why, and nothing has the topic"
    )
    func test() async throws {
        try await withFakeNotify { server in
            try await withProject { owner, _ in
                _ = try owner.file("token", Array("tk_secret\n".utf8))
                let target = "ntfy://127.0.0.1:\(server.port)"
                let options = [
                    "--notify", "\(target)/mytopic?secure=false", "--notify-token-file", owner.directory + "/token",
                ]
                try await withRunningHost(owner, ["--project", owner.directory + "/garden"] + options) { events in
                    _ = try await events.first("listening")
                    let sent = try await owner.spawn(["host", "notify", "test"])
                    #expect(sent.status == 0 && sent.out.hasSuffix("\(target)  sent\n"), "\(sent)")
                    let request = try #require(server.requests.first)
                    #expect(request.text.contains(#""topic":"mytopic""#), "\(request.text)")
                    #expect(request.header("Authorization") == "Bearer tk_secret")

                    server.reply(.status(403))
                    let failed = try await owner.spawn(["host", "notify", "test", "--json"])
                    #expect(failed.status == 1 && failed.failed(with: "notify.failed"), "\(failed)")
                    let reason = "it refuses the token, or wants one (403)"
                    #expect(try failed.json.first?["failure"]?.string == reason)
                    let event = try await events.first("notify_failed")
                    #expect(event["target"]?.string == target && event["reason"]?.string == reason)
                    let status = try await owner.spawn(["host", "status"])
                    #expect(status.out.contains("notifies  \(target) (failed: \(reason))\n"), "\(status)")
                    let all = "\(sent)\(failed)\(event)\(status)\(try await owner.spawn(["host", "status", "--json"]))"
                    #expect(!all.contains("mytopic") && !all.contains("tk_secret"))
                }
            }
        }
    }

    @Test(
        "The token is taken from the desktop's keyring",
        .enabled(if: RealKeyring.missing.isEmpty, "skipped, missing: \(RealKeyring.missing)")
    )
    func keyring() async throws {
        try await withFakeNotify { server in
            try await withProject { owner, _ in
                let options = ["--notify", "http://127.0.0.1:\(server.port)/hook", "--notify-token-keyring"]
                let arguments = ["--project", owner.directory + "/garden"] + options
                try await PrivateBus.with([]) { bus in
                    let environment = owner.processEnvironment(bus.environment)
                    let script = """
                        printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null
                        # The daemon goes to the background before it is on the bus.
                        for attempt in $(seq 500); do
                            printf tk_1 | secret-tool store --label pairtool service pairtool-notify && exit
                        done
                        exit 1
                        """
                    let stored = try await Subprocess.run(
                        .path("/bin/sh"),
                        arguments: ["-c", script],
                        environment: environment,
                        output: .discarded,
                        error: .string(limit: 64 << 10)
                    )
                    #expect(stored.terminationStatus.isSuccess, "\(stored)")
                    try await withRunningHost(owner, arguments, environment: bus.environment) { events in
                        _ = try await events.first("listening")
                        #expect(try await owner.spawn(["host", "notify", "test"]).status == 0)
                    }
                }
                #expect(server.requests.first?.header("Authorization") == "Bearer tk_1")
                let none = try await owner.spawn(["host"] + arguments)
                #expect(none.status != 0 && none.err.contains("keyring"), "\(none)")
            }
        }
    }

    @Test("config.toml names whom to tell; a host that tells nobody says how to")
    func settings() async throws {
        try await withFakeNotify { server in
            try await withProject { owner, _ in
                let garden = ["--project", owner.directory + "/garden"]
                try await withRunningHost(owner, garden) { events in
                    _ = try await events.first("listening")
                    let none = try await owner.spawn(["host", "notify", "test"])
                    #expect(none.status == 3 && none.err.contains("pairtool host --notify ntfy://"), "\(none)")
                }
                try owner.configure("[notify]\nurls = [\"http://127.0.0.1:\(server.port)/hook\"]\ndetail = \"title\"\n")
                try await withRunningHost(owner, garden) { events in
                    _ = try await events.first("listening")
                    #expect(try await owner.spawn(["host", "notify", "test", "-q"]).status == 0)
                }
                #expect(server.requests.map(\.target) == ["/hook"])
                try owner.configure("[notify]\nurls = [\"http://example.org/hook\"]\n")
                let refused = try await owner.spawn(["host"] + garden)
                #expect(refused.status == 2 && refused.err.contains("/config.toml) cannot be used"), "\(refused)")
            }
        }
    }

    @Test(
        "Wrong options are refused before a host starts, and the errors do not have the address",
        arguments: [
            (["--notify", "ntfy.sh/topic"], "not a URL"), (["--notify", "http://example.org/"], "plain HTTP"),
            (["--notify-detail", "title"], "need --notify"),
            (
                ["--notify", "https://a.example/", "--notify-token-keyring", "--notify-token-file", "x"],
                "cannot be used"
            ),
            (["--notify", "https://a.example/", "--notify-token-file", "/nowhere"], "no such file"),
            (
                [
                    "--notify", "https://a.example/", "--notify", "https://b.example/", "--notify-token-file",
                    "/dev/null",
                ],
                "is for one server"
            ),
            (["--notify-file", "/dev/null"], "has no address"),
            (["--notify", "http://10.0.0.1/", "--notify-token-file", "/dev/null"], "without encryption"),
        ]
    )
    func mistakes(options: [String], reason: String) async throws {
        try await Sandbox.with { user in
            let result = await user.run(["host"] + options)
            #expect(result.status != 0 && result.err.contains(reason), "\(result)")
            #expect(!result.err.contains("topic"), "it may be a secret")
        }
    }
}

/// The keyring of a desktop.
private enum RealKeyring {
    /// What this machine lacks for it.
    static let missing =
        PrivateBus.missing
        + ["/usr/bin/gnome-keyring-daemon", "/usr/bin/secret-tool"].filter {
            !FileManager.default.isExecutableFile(atPath: $0)
        }
}
