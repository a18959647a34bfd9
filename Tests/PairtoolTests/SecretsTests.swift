import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@testable import pairtool

/// Secrets stay in the files that are theirs, whatever is done with them.
@Suite(.serialized, .timeLimit(.minutes(15))) struct SecretsTests {
    /// All that the commands of a job have said.
    private final class Transcript: Sendable {
        private let said = NIOLockedValueBox<[(String, String)]>([])

        func note(_ command: String, _ result: Sandbox.Result) {
            said.withLockedValue { $0 += [(command + " (out)", result.out), (command + " (err)", result.err)] }
        }

        var all: [(place: String, text: String)] { said.withLockedValue { $0.map { (place: $0.0, text: $0.1) } } }
    }

    /// The pipes that a host's agent reads one after the other.
    private struct Gates: Sendable {
        var started: String
        var answer: String
    }

    private static let tracing = ["PAIRTOOL_LOG": "trace"]

    @Test(
        "After a whole job codes, tokens and private keys are in no output, no process list and no file but their own"
    )
    func wholeJob() async throws {
        try await withProject { host, user in
            let picture = host.directory + "/qr.png"
            let agent = Gates(started: try await host.pipe("started"), answer: try await host.pipe("answer"))
            let transcript = Transcript()
            let found = NIOLockedValueBox(SecretSearch())
            let hosting = try await host.follow(
                [
                    "host", "--json", "--port", "0", "--engine", "embedded", "--name", "Shed", "--project",
                    host.directory + "/garden", "--qr-file", picture, "--agent-command",
                    "/bin/cat \(agent.started) \(agent.answer)",
                ],
                environment: Self.tracing
            ) { server in
                _ = try await server.events.first("challenge")
                // A picture shows what it holds to its owner only.
                try await Self.pair(user, byPicture: picture, transcript, found)
                try await Self.pairByDigits(host, user, port: server.events.ports.plain, transcript, found)
                try await Self.pairByDigits(host, user, port: server.events.ports.plain, transcript, found)
                try Self.addKeys(host, user, found)
                try await Self.chat(host, user, server, agent, transcript, found)
                let running = found.withLockedValue { $0 }
                #expect(try (running.leaks(below: user.directory) + running.leaks(below: host.directory)) == [])
                try server.interrupt()
            }
            transcript.note("host", hosting.result)
            #expect(hosting.result.status == 0)
            #expect(!FileManager.default.fileExists(atPath: picture))
            #expect(hosting.result.err.contains(" trace ") || hosting.result.err.contains(" debug "), "it did log")

            let search = found.withLockedValue { $0 }
            #expect(try (search.leaks(below: user.directory) + search.leaks(below: host.directory)) == [])
            for (place, text) in transcript.all {
                #expect(search.leaks(in: Data(text.utf8), of: place) == [])
            }
            // What is told in pieces, one of them here and one there, is told.
            #expect(search.leaks(in: Data(transcript.all.map(\.text).joined().utf8), of: "all that was said") == [])
            let pairs = transcript.all.filter { $0.place.hasPrefix("pair") }
            #expect(pairs.contains { $0.text.contains(" trace ") || $0.text.contains(" debug ") }, "they did log")
            // What is looked for is found where it belongs.
            #expect(try search.places(of: "device key", below: user.directory).map(Self.last) == ["identity.key"])
            let session = try #require(search.secrets.last { $0.name.hasPrefix("session") }).name
            #expect(try search.places(of: session, below: user.directory).map(Self.last) == ["sessions.json"])
            #expect(try search.places(of: "host key", below: host.directory).map(Self.last) == ["identity.key"])
            let certificate = try Data(contentsOf: tls(host))
            #expect(search.leaks(in: certificate, of: "elsewhere").map(\.name) == ["TLS key"])
        }
    }

    @Test("A code that stands alone is found, once, in one place; digits by chance are not")
    func planted() {
        var search = SecretSearch()
        search.add(code: "482913")
        search.add(code: "000007")
        let said = [
            "Pairing with 482913 …", "code=482913", #"{"code":"482913"}"#, "482913\n", "482913", "12482913 482913",
            "a 482913b 000007c", "Pairing code:  482 913",
        ]
        for text in said { #expect(search.leaks(in: Data(text.utf8), of: "x").map(\.name) == ["codes"], "\(text)") }
        let byChance = [
            "1482913", "4829130", "f482913", "482913e", "QT/482913", "482913-x_", "48291", "", "12:00:07.000",
        ]
        for text in byChance { #expect(search.leaks(in: Data(text.utf8), of: "x") == [], "\(text)") }
    }

    private func tls(_ host: Sandbox) -> URL { URL(filePath: host.directory + "/data/pairtool/host/tls.pem") }

    private static func last(_ path: String) -> String {
        String(path[(path.lastIndex(of: "/") ?? path.startIndex)...].dropFirst())
    }
}

// MARK: The job

extension SecretsTests {
    private static func pair(
        _ user: Sandbox,
        byPicture picture: String,
        _ transcript: Transcript,
        _ found: NIOLockedValueBox<SecretSearch>
    ) async throws {
        let shown = try #require(try await user.spawn(["scan", picture, "--show-secrets", "--json"]).json.first)
        try addChallenge(code: shown["code"]?.string, token: shown["token"]?.string, found)
        let paired = try await user.spawn(["pair", "--qr", picture, "--name", "desk"], environment: tracing)
        #expect(paired.status == 0, "\(paired)")
        transcript.note("pair --qr", paired)
        try addSession(user, found)
    }

    private static func pairByDigits(
        _ host: Sandbox,
        _ user: Sandbox,
        port: Int,
        _ transcript: Transcript,
        _ found: NIOLockedValueBox<SecretSearch>
    ) async throws {
        guard case .pairing(let payload) = QRContent(Array(try await host.newChallenge().utf8)) else {
            throw CancellationError()
        }
        try addChallenge(code: payload.code, token: payload.token, found)
        let words = ["pair", "--url", "http://127.0.0.1:\(port)", "--code-stdin", "--name", "desk", "--json"]
        let wrong = try await user.spawn(words, stdin: "12345\n", environment: tracing)
        #expect(wrong.status == 2)
        transcript.note("pair --code-stdin", wrong)
        let paired = try await user.spawn(words, stdin: payload.code + "\n", environment: tracing)
        #expect(paired.status == 0, "\(paired)")
        transcript.note("pair --code-stdin", paired)
        try addSession(user, found)
    }

    /// Watches, sends and looks at the processes while the answer is awaited.
    private static func chat(
        _ host: Sandbox,
        _ user: Sandbox,
        _ server: Follower,
        _ agent: Gates,
        _ transcript: Transcript,
        _ found: NIOLockedValueBox<SecretSearch>
    ) async throws {
        let watching = try await user.follow(["watch", "--json"], environment: tracing) { watch in
            _ = try await watch.events.first("hello")
            async let sent = user.spawn(["send", "--new", "--project", "garden", "dig"], environment: tracing)
            // It can be written once the agent reads it.
            let started = try await host.shell("echo '' > '\(agent.started)'")
            #expect(started.status == 0)
            let search = found.withLockedValue { $0 }
            for (home, expected) in [(user.directory, 2), (host.directory, 2)] {
                let processes = try ProcessTable.processes(of: home)
                #expect(processes.count >= expected, "watch and send; the host and its agent")
                for (pid, text) in processes { #expect(search.leaks(in: text, of: "process \(pid)") == []) }
            }
            let opened = try await host.shell("echo earth > '\(agent.answer)'")
            #expect(opened.status == 0)
            let answer = try await sent
            #expect(answer.out.contains("earth"), "\(answer)")
            transcript.note("send", answer)
            _ = try await watch.events.first("turn.finished")
            try watch.interrupt()
        }
        #expect(watching.result.status == 130)
        transcript.note("watch", watching.result)
        for words in [["status", "--json"], ["disconnect"], ["status"], ["devices", "--json"], ["hosts", "--json"]] {
            let result = try await user.spawn(words, environment: tracing)
            #expect(result.status == 0, "\(words) \(result)")
            transcript.note(words.joined(separator: " "), result)
            try addSession(user, found)
        }
        for words in [["host", "devices", "--json"], ["host", "status", "--json"], ["host", "audit", "--json"]] {
            let result = try await host.spawn(words, environment: tracing)
            #expect(result.status == 0, "\(words) \(result)")
            transcript.note(words.joined(separator: " "), result)
        }
    }
}

// MARK: What is looked for

extension SecretsTests {
    private static func addChallenge(
        code: String?,
        token: String?,
        _ found: NIOLockedValueBox<SecretSearch>
    ) throws {
        let (code, token) = (try #require(code), try #require(token))
        found.withLockedValue {
            $0.add(code: code)
            $0.add("token \($0.secrets.count)", text: token)
        }
    }

    /// The session that the user has now.
    private static func addSession(_ user: Sandbox, _ found: NIOLockedValueBox<SecretSearch>) throws {
        let path = user.directory + "/data/pairtool/sessions.json"
        let content = try JSONDecoder().decode(
            [String: ShownJSON].self,
            from: Data(contentsOf: URL(filePath: path))
        )
        guard case .object(let sessions)? = content["sessions"] else { throw CancellationError() }
        for token in sessions.values.compactMap({ $0["token"]?.string }) {
            found.withLockedValue { search in
                let count = search.secrets.count { $0.name.hasPrefix("session") }
                search.add("session \(count + 1)", text: token, homes: ["/data/pairtool/sessions.json"])
            }
        }
    }

    private static func addKeys(_ host: Sandbox, _ user: Sandbox, _ found: NIOLockedValueBox<SecretSearch>) throws {
        let own = "/data/pairtool/identity.key"
        let hosts = "/data/pairtool/host/identity.key"
        let tls = "/data/pairtool/host/tls.pem"
        let device = try seed(user.directory + own)
        let server = try seed(host.directory + hosts)
        let scalar = try privateScalar(host.directory + tls)
        found.withLockedValue {
            $0.add("device key", bytes: device, homes: [own])
            $0.add("host key", bytes: server, homes: [hosts])
            $0.add("TLS key", bytes: scalar, homes: [tls])
        }
    }

    /// The seed in a key file: 32 bytes after a mark of eight.
    private static func seed(_ path: String) throws -> [UInt8] {
        let content = try Array(Data(contentsOf: URL(filePath: path)))
        try #require(content.count == 72)
        return Array(content[8..<40])
    }

    /// The private number in a PEM file: the octet string of an ECPrivateKey (RFC 5915, section 3).
    private static func privateScalar(_ path: String) throws -> [UInt8] {
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        let lines = text.split(separator: "\n").drop { !$0.hasSuffix("PRIVATE KEY-----") }.dropFirst()
        let der = try #require(Base64.decode(lines.prefix { !$0.hasPrefix("-----") }.joined()))
        let mark: [UInt8] = [2, 1, 1, 4, 32]
        let start = try #require(der.indices.first { der[$0...].starts(with: mark) }) + mark.count
        return Array(der[start..<start + 32])
    }
}
