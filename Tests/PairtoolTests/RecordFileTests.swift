import CompanionTestSupport
import CompanionWire
import Glibc
import Identity
import LocalState
import Testing

@testable import pairtool

/// Records that other users can have written are refused, with the way out, as keys are.
@Suite struct RecordFileTests {
    private func expectRefusal(_ result: Sandbox.Result, _ path: String, _ place: SourceLocation = #_sourceLocation) {
        #expect(result.status == 1, "\(result)", sourceLocation: place)
        #expect(result.err.contains("other users can change it"), "\(result)", sourceLocation: place)
        #expect(result.err.contains("chmod 600 '\(path)'"), "\(result)", sourceLocation: place)
    }

    @Test(
        "hosts.json is refused by every command that reads it, and taken again behind chmod",
        arguments: [0o620, 0o602]
    )
    func hosts(mode: UInt32) async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let path = user.directory + "/data/pairtool/hosts.json"
                try #require(chmod(path, mode) == 0)
                let before = mac.requests.count
                for words in [
                    ["hosts"], ["projects"], ["hosts", "rename", "desk", "other"], ["send", "c-login", "x"],
                ] {
                    expectRefusal(await user.run(words), path)
                }
                #expect(mac.requests.count == before, "nothing was sent")
                #expect(FileStatus(path)?.permissions == mode, "and the file is as it was")
                try #require(chmod(path, 0o600) == 0)
                #expect(await user.run("hosts").status == 0)
            }
        }
    }

    @Test("A pipe in the place of a record is refused, and holds nobody up")
    func pipe() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let path = user.directory + "/data/pairtool/hosts.json"
                try #require(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
                let refused = try await user.spawn(["hosts"])
                #expect(refused.status != 0 && refused.err.contains("is not a file"), "\(refused)")
            }
        }
    }

    @Test("secrets.json is refused before its token is sent")
    func secrets() async throws {
        try await withFakeAICLI { server in
            try await Sandbox.with { user in
                try await user.pair(server)
                let path = user.directory + "/data/pairtool/secrets.json"
                try #require(chmod(path, 0o660) == 0)
                expectRefusal(await user.run("send", "web", "x"), path)
                try #require(chmod(path, 0o600) == 0)
                #expect(await user.run("send", "web", "x").status == 0)
            }
        }
    }

    @Test("sessions.json is refused, and no new session is opened in its place")
    func sessions() async throws {
        try await withVerifiedHost { _, host, user in
            let path = user.directory + "/data/pairtool/sessions.json"
            try #require(chmod(path, 0o606) == 0)
            expectRefusal(await user.run("projects"), path)
            #expect(FileStatus(path)?.permissions == 0o606)
            try #require(chmod(path, 0o600) == 0)
            #expect(await user.run("projects").status == 0)
        }
    }

    @Test("What is kept of single hosts is refused alike")
    func belongings() async throws {
        try await withFakeAICLI { server in
            try await Sandbox.with { user in
                try await user.pair(server)
                #expect(await user.run("send", "web", "x").status == 0)
                let found = try await user.shell(
                    "chmod 666 data/pairtool/aicli/*/sessions.json; echo data/pairtool/aicli/*"
                )
                let path = user.directory + "/" + found.out.trimmingWhitespace() + "/sessions.json"
                expectRefusal(await user.run("send", "web", "x"), path)
            }
        }
    }

    @Test(
        "A record that belongs to another user is refused",
        .enabled(if: geteuid() == 0, "files of others are made by root")
    )
    func foreign() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let path = user.directory + "/data/pairtool/hosts.json"
                try #require(chown(path, 65_534, 65_534) == 0)
                let result = await user.run("hosts")
                #expect(result.status == 1 && result.err.contains("belongs to another user"), "\(result)")
                #expect(result.err.contains("chown $(id -u) '\(path)'"), "\(result)")
            }
        }
    }
}
