import CompanionTestSupport
import FoundationEssentials
import Identity
import LocalState
import Testing

@testable import pairtool

@Suite struct SyncTests {
    /// The keys and the one secret setting of a host.
    private func secrets(_ host: FakeLumi) -> [String] {
        host.script.files.filter { $0.key.hasPrefix("sync_") }.values
            .flatMap { String(decoding: $0, as: UTF8.self).split(separator: "\"") }
            .filter { $0.hasPrefix("fake-") }.map(String.init)
    }

    @Test("A pull keeps what may be kept, and says what it left out")
    func pull() async throws {
        try await withPairedLumi { host, user async throws in
            let result = await user.run("lumi", "sync")
            #expect(result.status == 0, "\(result)")
            #expect(result.out.contains("agents.json"))
            #expect(result.out.contains("skipped: it may contain keys"))
            let kept = try FileManager.default.contentsOfDirectory(atPath: try user.pulled)
            // The conversations are in the history.
            #expect(Set(kept) == ["agents.json", "automations.json", "lock"])
            let status = try #require(try await user.run("history", "--json").json.first)
            #expect(status["chats"] == .number(2))
            let again = await user.run("lumi", "sync", "--json")
            let states = try again.json.reduce(into: [:]) { $0[$1["file"]?.string ?? ""] = $1["state"]?.string }
            #expect(
                states == [
                    "agents.json": "unchanged", "automations.json": "unchanged", "conversations.json": "unchanged",
                    "sync_settings.json": "left_out", "sync_api_keys.json": "left_out", "health_data.json": "missing",
                ]
            )
            #expect(host.commands("push_sync_data").isEmpty)
        }
    }

    @Test("Keys that cannot be read any more do not keep a pull from mending them")
    func damagedKeys() async throws {
        try await withPairedLumi { host, user async throws in
            #expect(await user.run("lumi", "sync", "--with-keys").status == 0)
            let keys = try user.pulled + "/sync_api_keys.json"
            let sound = try PrivateFile.read(keys)
            try Array("{ damaged".utf8).withUnsafeBytes { try PrivateFile.write($0, to: keys) }
            #expect(await user.run("lumi", "remote", "volume").status == 0)
            #expect(await user.run("lumi", "sync", "--with-keys").status == 0)
            #expect(try PrivateFile.read(keys) == sound)
        }
    }

    @Test("With keys they are kept for their owner only, and are in no output and no log")
    func keys() async throws {
        try await withPairedLumi { host, user async throws in
            let trace = ["PAIRTOOL_LOG": "trace"]
            let result = await user.run("lumi", "sync", "--with-keys", environment: trace)
            #expect(result.status == 0, "\(result.err)")
            #expect(result.err.contains("without encryption"))
            let keys = secrets(host)
            #expect(keys.count == 3)
            let directory = try user.pulled
            let file = try PrivateFile.read(directory + "/sync_api_keys.json") ?? []
            #expect(keys.contains { String(decoding: file, as: UTF8.self).contains($0) })
            for name in ["sync_api_keys.json", "sync_settings.json"] {
                #expect(FileStatus("\(directory)/\(name)")?.permissions == 0o600)
            }
            #expect(FileStatus(directory)?.permissions == 0o700)
            let said = result.out + result.err + (await user.run("lumi", "sync", "--json", environment: trace)).out
            #expect(!keys.contains(where: said.contains))
        }
    }

    @Test("A file that fails leaves the last one, and the command says so with its exit code")
    func failure() async throws {
        try await withPairedLumi { host, user async throws in
            #expect(await user.run("lumi", "sync").status == 0)
            let before = host.script.files["agents.json"]
            host.change { $0.files["agents.json"] = Array("{\"items\": oops".utf8) }
            let result = await user.run("lumi", "sync", "--json")
            #expect(result.status == 1)
            #expect(try result.errorCode == "sync.incomplete")
            #expect(try PrivateFile.read(try user.pulled + "/agents.json") == before)
            let states = try result.json.map { $0["state"]?.string }
            #expect(states.filter { $0 == "failed" }.count == 1)
        }
    }

    @Test("A host that is forgotten leaves nothing behind that was pulled from it")
    func forgotten() async throws {
        try await withPairedLumi { host, user async throws in
            #expect(await user.run("lumi", "sync", "--with-keys").status == 0)
            let directory = try user.pulled
            #expect(FileStatus(directory) != nil)
            #expect(await user.run("hosts", "forget", "127", "--yes").status == 0)
            #expect(FileStatus(directory) == nil)
        }
    }

    @Test(
        "Whether a host has sync is found out by asking, however it accepts connections",
        arguments: [FakeLumiScript.Generation.open, .approval]
    )
    func accepting(generation: FakeLumiScript.Generation) async throws {
        var script = FakeLumiScript()
        script.generation = generation
        script.user = .accepts(atPing: 1)
        try await withPairedLumi(script) { host, user async throws in
            let result = await user.run("lumi", "sync")
            #expect(result.status == 0 && result.out.contains("agents.json"), "\(result)")
        }
    }

    @Test("A host without sync is told apart by its answer")
    func firstGeneration() async throws {
        var script = FakeLumiScript()
        script.generation = .open
        script.hasSync = false
        try await withPairedLumi(script) { host, user async throws in
            let result = await user.run("lumi", "sync")
            #expect(result.status == 12 && result.err.contains("has no sync"), "\(result)")
            #expect(host.commands("get_sync_data").count == 1)
        }
    }
}
