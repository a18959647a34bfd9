import CompanionTestSupport
import FoundationEssentials
import Glibc
import Identity
import LocalState
import Testing

@testable import pairtool

/// Commands of their own processes, and the process that keeps a connection between them.
@Suite(.timeLimit(.minutes(5))) struct HeldConnectionTests {
    private static let keep = ["PAIRTOOL_REMOTE_KEEP": "600"]

    /// Runs a body with a host and a user who has paired with it without keeping the connection; then ends a holder.
    private func withUser(
        _ script: FakeLumiScript = FakeLumiScript(),
        _ body: (FakeLumi, Sandbox) async throws -> Void
    ) async throws {
        try await withPairedLumi(script) { host, user async throws in
            do { try await body(host, user) } catch {
                _ = try? await user.spawn(["lumi", "remote", "disconnect"])
                throw error
            }
            _ = try await user.spawn(["lumi", "remote", "disconnect"])
        }
    }

    private func run(_ user: Sandbox, _ words: String..., seconds: String = "600") async throws -> Sandbox.Result {
        let result = try await user.spawn(words, environment: ["PAIRTOOL_REMOTE_KEEP": seconds])
        #expect(result.status == 0, "\(words): \(result)")
        return result
    }

    /// The processes that keep a connection for this user.
    private func holders(of user: Sandbox) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter { process in
            let words = (try? PrivateFile.read("/proc/\(process)/cmdline")).flatMap { $0 } ?? []
            let text = String(decoding: words, as: UTF8.self)
            return text.contains("\0hold\0") && text.contains(user.directory)
        }
    }

    @Test("Commands in a row need one approval, and speak by one connection")
    func row() async throws {
        try await withUser { host, user in
            let before = host.connections
            let first = try await run(user, "lumi", "remote", "volume", "30")
            #expect(first.err.contains("The connection is kept for"), "\(first)")
            #expect(try await run(user, "lumi", "remote", "volume").out.contains("30"))
            _ = try await run(user, "lumi", "sync")
            let ping = try await run(user, "lumi", "remote", "ping", "--count", "2", "--json")
            #expect(try ping.json.first?["generation"] == .number(3))
            #expect(host.connections == before + 1)
            #expect(!ping.err.contains("Waiting for"))
            // Accepted at the second ping; each command behind asks once whether the connection still stands.
            let asked = host.commands("ping").count { !$0.isApproved }
            #expect(asked == 4, "two pings for the pairing, two for the connection that is kept")
        }
    }

    @Test("What a pairing has had accepted serves the first command")
    func pairing() async throws {
        try await withFakeLumi { host in
            try await Sandbox.with { user in
                let pair = ["pair", "--family", "lumi", "--url", host.endpointText, "--allow-legacy"]
                #expect(try await user.spawn(pair, environment: Self.keep).status == 0)
                _ = try await run(user, "lumi", "remote", "volume")
                #expect(host.connections == 1)
                #expect(try await user.spawn(["hosts", "forget", "127", "--yes"]).status == 0)
                // Who is forgotten is left, too.
                try await host.hasLost(connection: 1)
                #expect(try holders(of: user).isEmpty)
            }
        }
    }

    @Test("Its socket is the user's alone, and its process has nothing else open and no terminal")
    func process() async throws {
        try await withUser { host, user in
            _ = try await run(user, "lumi", "remote", "volume")
            // Once it answers it has begun.
            _ = try await run(user, "lumi", "remote", "volume")
            let process = try #require(try holders(of: user).first)
            let place = user.directory + "/run/pairtool"
            let socket = try #require(
                try FileManager.default.contentsOfDirectory(atPath: place).first { $0.hasSuffix(".sock") }
            )
            let status = try #require(FileStatus(place + "/" + socket, followingLinks: false))
            #expect(status.permissions == 0o600 && status.owner == geteuid())
            #expect(getsid(process) == process && getsid(0) != process)
            // It may not have noticed yet that the last command has ended.
            var files = try Self.openFiles(of: process)
            while files.values.count(where: { $0.hasPrefix("socket:") }) > 2 {
                await Task.yield()
                files = try Self.openFiles(of: process)
            }
            for number in ["0", "1", "2"] { #expect(files[number] == "/dev/null") }
            #expect(files.values.count { $0.hasPrefix("socket:") } == 2, "\(files)")
            // A pipe of its own has both ends here.
            let inherited = files.values.filter { name in
                name != "/dev/null" && !name.hasPrefix("socket:") && !name.hasPrefix("anon_inode:")
                    && !(name.hasPrefix("pipe:") && files.values.count { $0 == name } == 2)
            }
            #expect(inherited.isEmpty, "\(files)")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd") == "/")
        }
    }

    private static func openFiles(of process: pid_t) throws -> [String: String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").reduce(into: [:]) {
            $0[$1] = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($1)")
        }
    }

    @Test("Commands at once take turns on the connection")
    func turns() async throws {
        try await withUser { host, user in
            _ = try await run(user, "lumi", "remote", "volume")
            let connections = host.connections
            try await withThrowingTaskGroup(of: Void.self) { group in
                for level in 1...6 {
                    group.addTask { _ = try await run(user, "lumi", "remote", "volume", "\(level * 10)") }
                }
                try await group.waitForAll()
            }
            #expect(host.connections == connections && host.commands("set_volume").count == 6)
        }
    }

    @Test("It ends by itself when no command comes, and is closed when it is told to")
    func end() async throws {
        try await withUser { host, user in
            _ = try await run(user, "lumi", "remote", "volume", seconds: "1")
            try await host.hasLost(connection: host.connections)
            _ = try await run(user, "lumi", "remote", "volume")
            let kept = host.connections
            let closed = try await run(user, "lumi", "remote", "disconnect")
            #expect(closed.out.contains("is closed"), "\(closed)")
            try await host.hasLost(connection: kept)
            #expect(try await run(user, "lumi", "remote", "disconnect").out.contains("No connection"))
            _ = try await run(user, "lumi", "remote", "volume", seconds: "0")
            #expect(try host.connections == kept + 1 && holders(of: user).isEmpty)
        }
    }

    @Test("Where the process or the Mac has ended the connection, the next command makes a new one")
    func broken() async throws {
        try await withUser { host, user in
            _ = try await run(user, "lumi", "remote", "volume")
            let process = try #require(try holders(of: user).first)
            #expect(kill(process, SIGKILL) == 0)
            try await host.hasLost(connection: host.connections)
            let count = host.connections
            _ = try await run(user, "lumi", "remote", "volume")
            #expect(host.connections == count + 1)
            // The Mac closes at the question whether the connection still stands.
            host.change { $0.faults = [FakeLumiFault(.close, on: "ping", times: 1)] }
            let renewed = try await run(user, "lumi", "remote", "volume")
            #expect(host.connections == count + 2, "\(renewed)")
            // And in the middle of a command: what became of that is not known.
            host.change { $0.faults = [FakeLumiFault(.close, on: "set_volume", times: 1)] }
            let lost = try await user.spawn(["lumi", "remote", "volume", "10"], environment: Self.keep)
            #expect(lost.status == 10 && lost.err.contains("that was kept has ended before the answer"), "\(lost)")
        }
    }

    @Test("A host that accepts by itself is connected to anew each time: nothing is kept")
    func open() async throws {
        var script = FakeLumiScript()
        script.generation = .open
        try await withUser(script) { host, user in
            let first = try await run(user, "lumi", "remote", "volume")
            #expect(try !first.err.contains("is kept") && holders(of: user).isEmpty)
        }
    }

    @Test("Whoever starts the process by hand is told that it is not for them")
    func byHand() async throws {
        try await Sandbox.with { user in
            let words = ["lumi", "remote", "hold", "--socket", "/tmp/x", "--generation", "3", "--seconds", "5"]
            let result = try await user.spawn(words)
            #expect(result.status == 2)
        }
    }
}
