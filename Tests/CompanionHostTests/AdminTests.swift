import CompanionClient
import CompanionHost
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import NIOCore
import Subprocess
import SystemPackage
import Testing

@Suite("The admin socket", .timeLimit(.minutes(15)))
struct AdminTests {
    /// Runs a host with an admin socket, and a client of it.
    private func withAdmin<Result: Sendable>(
        owner: UInt32 = geteuid(),
        configure: (inout CompanionHostConfiguration) -> Void = { _ in },
        _ body: (TestHost, AdminClient, String) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let path = directory + "/run/host.sock"
            return try await withHost(in: directory, configure: configure) { host in
                let server = AdminServer(
                    path: path,
                    administration: host.server.administration,
                    owner: owner,
                    logger: .silent
                )
                return try await serving(server) { try await body(host, AdminClient(path: path), path) }
            }
        }
    }

    /// Runs a server while a body works with it. It listens when the body begins.
    private func serving<Result: Sendable>(
        _ server: AdminServer,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            try await eventually { (try? mode(of: server.path)) == 0o600 }
            let result = try await body()
            // Being told to end is no failure.
            group.cancelAll()
            try await group.waitForAll()
            return result
        }
    }

    @Test("The socket is for its owner only, and is gone when the host has ended")
    func permissions() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory) { host in
                let path = directory + "/run/host.sock"
                let server = AdminServer(path: path, administration: host.server.administration, logger: .silent)
                try await serving(server) {
                    let modes = try (mode(of: path), mode(of: directory + "/run"))
                    #expect(modes == (0o600, 0o700))
                }
                #expect(!FileManager.default.fileExists(atPath: path))
                let error = await #expect(throws: AdminError.self) {
                    try await AdminClient(path: path).send(AdminRequest(.status))
                }
                #expect(error?.code == .notRunning)
            }
        }
    }

    @Test("Another user is refused, whatever the file's mode")
    func otherUser() async throws {
        try await withAdmin(owner: geteuid() + 1) { _, client, _ in
            let error = await #expect(throws: AdminError.self) { try await client.send(AdminRequest(.status)) }
            #expect(error?.code == .notAllowed)
        }
    }

    @Test("An agent of the host does not decide what it may do, and its attempt is in the audit")
    func agent() async throws {
        try await withTemporaryDirectory { state in
            let launch = ACPLaunch(id: "fake", name: "Fake", command: try FakeACPAgent.command(in: state))
            try await withAdmin(configure: { $0.agent = .acp(launch) }) { host, client, path in
                try await host.pair()
                func ask(_ command: String, _ more: String = "") async throws -> String {
                    let line = #"{"v":1,"command":"\#(command)"\#(more)}"#
                    return try await host.ask("admin \(path) \(line)", model: "fake").answer
                }
                let refused = [
                    ("answer", #","question":"q","approve":true"#), ("rule.remove", ""), ("pair", ""),
                    ("rule.add", #","rule":{"id":0,"effect":"allow","kind":"execute"}"#), ("unlock", ""),
                    ("permissions", #","device":"d","permissions":["approve"]"#), ("revoke", #","device":"d""#),
                ]
                for (command, more) in refused {
                    let answer = try await ask(command, more)
                    #expect(answer.contains(#""code":"request.forbidden""#), "\(command): \(answer)")
                    #expect(
                        answer.contains(
                            "An agent of this host asked for this, or a process that has ended. Only you may: "
                        ),
                        "\(answer)"
                    )
                }
                #expect(try await ask("rules").contains(#""rules":[]"#), "it may look")
                let rows = try await client.send(AdminRequest(.audit)).audit?.filter { $0.kind == "agent.refused" }
                #expect(rows?.map { $0.detail["command"]?.string } == refused.map { $0.0 })
                var request = AdminRequest(.addRule)
                request.rule = AgentRule(effect: .allow, kind: "execute")
                #expect(try await client.send(request).rules?.count == 1, "the owner may")
            }
        }
    }

    @Test("Whoever has the connection of a process that has ended may be anybody, and decides nothing")
    func endedPeer() async throws {
        let script = """
            import os, socket, sys
            s = socket.socket(socket.AF_UNIX)
            s.connect(sys.argv[1])
            r, w = os.pipe()
            if os.fork(): os._exit(0)
            os.close(w)
            os.read(r, 1)
            for command in "unlock", "rules":
                s.sendall(b'{"v":1,"command":"%s"}\\n' % command.encode())
                print(s.recv(4096).decode().strip())
            """
        try await withAdmin { _, _, path in
            let outcome = try await Subprocess.run(
                .path("/bin/sh"),
                // cat reads until both processes have ended.
                arguments: ["-c", #"python3 -c "$0" "$1" | cat"#, script, path],
                output: .string(limit: 1 << 16)
            )
            let answers = outcome.standardOutput.split(separator: "\n")
            #expect(answers.count == 2 && answers[0].contains("request.forbidden"), "\(answers)")
            #expect(answers.last?.contains(#""rules":[]"#) == true, "it may look")
        }
    }

    @Test("A socket that a killed host left behind is replaced")
    func stale() async throws {
        try await withTemporaryDirectory { directory in
            try await withHost(in: directory) { host in
                let path = directory + "/run/host.sock"
                try FileManager.default.createDirectory(
                    atPath: directory + "/run",
                    withIntermediateDirectories: false,
                    attributes: [.posixPermissions: 0o700]
                )
                close(try listeningSocket(path))
                #expect(FileManager.default.fileExists(atPath: path))
                let server = AdminServer(path: path, administration: host.server.administration, logger: .silent)
                try await serving(server) {
                    let status = try await AdminClient(path: path).send(AdminRequest(.status)).status
                    #expect(status != nil)
                }
            }
        }
    }

    @Test("A socket that is in use is left alone: another host runs")
    func live() async throws {
        try await withAdmin { host, client, path in
            let second = AdminServer(path: path, administration: host.server.administration, logger: .silent)
            let error = await #expect(throws: AdminError.self) { try await second.run() }
            #expect(error?.code == .anotherHost)
            #expect(try await client.send(AdminRequest(.status)).status != nil)
            // One that listens without the lock of ours is as much in use.
            let other = path + "2"
            let descriptor = try listeningSocket(other)
            defer { close(descriptor) }
            let third = AdminServer(path: other, administration: host.server.administration, logger: .silent)
            let refusal = await #expect(throws: AdminError.self) { try await third.run() }
            #expect(refusal?.code == .anotherHost)
            #expect(FileManager.default.fileExists(atPath: other))
        }
    }

    @Test("A directory that others can enter, and a path that is too long, are refused")
    func unusable() async throws {
        try await withAdmin { host, _, path in
            let directory = path + ".d"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            chmod(directory, 0o755)
            for path in [directory + "/host.sock", path + String(repeating: "x", count: 108)] {
                let server = AdminServer(path: path, administration: host.server.administration, logger: .silent)
                let error = await #expect(throws: AdminError.self) { try await server.run() }
                #expect(error?.code == .unusable)
            }
        }
    }

    @Test("The owner starts a pairing, sees the device, changes what it may do, and revokes it")
    func owner() async throws {
        try await withAdmin { host, client, _ in
            var pair = AdminRequest(.pair)
            pair.ttlSeconds = 120
            pair.permissions = [.chatSend]
            pair.lifetimeSeconds = 3600
            let challenge = try #require(try await client.send(pair).challenge)
            let left = challenge.expiresAt.timeIntervalSinceNow
            #expect(left > 60 && left <= 120)
            _ = try await host.complete(code: challenge.code)
            let device = try #require(try await client.send(AdminRequest(.devices)).devices?.first)
            #expect(device.permissions == [.chatSend])
            let stay = try #require(device.expiresAt).timeIntervalSinceNow
            #expect(stay > 3500 && stay <= 3600)

            var change = AdminRequest(.permissions)
            change.device = device.id
            change.permissions = [.chatCreate, .projectCreate]
            #expect(try await client.send(change).devices?.first?.permissions == [.chatCreate, .projectCreate])
            change.permissions = [CompanionPermission(rawValue: "everything")]
            let invalid = await #expect(throws: AdminError.self) { try await client.send(change) }
            #expect(invalid?.code == .refused && invalid?.reason == .requestInvalid)
            change.permissions = nil
            #expect(try await client.send(change).devices?.first?.permissions == [.chatCreate, .projectCreate])

            var revoke = AdminRequest(.revoke)
            revoke.device = device.id
            #expect(try await client.send(revoke).devices?.first?.id == device.id)
            #expect(try await client.send(AdminRequest(.devices)).devices?.isEmpty == true)
            for request in [revoke, change] {
                let unknown = await #expect(throws: AdminError.self) { try await client.send(request) }
                #expect(unknown?.code == .refused && unknown?.reason == .deviceUnknown)
            }
            var audit = AdminRequest(.audit)
            audit.verify = true
            let response = try await client.send(audit)
            #expect(response.verdict?.isIntact == true)
            #expect(response.audit?.map(\.kind) == ["pairing.paired", "device.permissions", "device.revoked"])
        }
    }

    @Test("Status tells where the host listens and how pairing stands, and pairing can be unlocked")
    func status() async throws {
        try await withAdmin { host, client, _ in
            _ = try await client.send(AdminRequest(.pair))
            let status = try #require(try await client.send(AdminRequest(.status)).status)
            #expect(status.name == "Test host" && status.port == host.port && status.tlsPort == host.tlsPort)
            #expect(!status.pairingLocked && status.challengeExpiresAt != nil && status.triesLeft == 3)
            for _ in 0..<10 { try await fail(host, client) }
            let locked = try #require(try await client.send(AdminRequest(.status)).status)
            #expect(locked.pairingLocked && locked.failuresInARow == 10)
            #expect(locked.challengeExpiresAt != nil, "the token of its QR code is taken")
            #expect(try await client.send(AdminRequest(.pair)).digitsLocked == true)
            #expect(try await client.send(AdminRequest(.unlock)).status?.pairingLocked == false)
            let open = try await client.send(AdminRequest(.pair))
            #expect(open.challenge != nil && open.digitsLocked == nil)
        }
    }

    /// Sends a wrong code for a challenge of its own.
    private func fail(_ host: TestHost, _ client: AdminClient) async throws {
        let challenge = try #require(try await client.send(AdminRequest(.pair)).challenge)
        _ = try await host.complete(code: challenge.code == "000000" ? "000001" : "000000")
    }

    @Test("Lines that are no requests are answered, ones that are too long end the connection")
    func malformed() async throws {
        try await withAdmin { _, _, path in
            let answers = try await blocking {
                let connection = try UnixConnection(path)
                return try [
                    "nonsense", "{}", #"{"v":1}"#, #"{"v":2,"command":"status"}"#, #"{"v":1,"command":"dance"}"#,
                    #"{"v":1,"command":"status","more":true}"#,
                ].map { try connection.exchange($0) }
            }
            let codes = try answers.map {
                try CompanionJSON.decoder().decode(AdminResponse.self, from: Data($0.utf8)).error?.code
            }
            let expected: [CompanionErrorCode?] = [
                .requestInvalid, .requestInvalid, .requestInvalid, .versionUnsupported, .requestInvalid, nil,
            ]
            #expect(codes == expected)
            let end = try await blocking {
                try UnixConnection(path).exchange(String(repeating: "x", count: 70_000))
            }
            #expect(end.isEmpty)
        }
    }
}

/// Binds a socket and listens there, as a host does.
private func listeningSocket(_ path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let address = try SocketAddress(unixDomainSocketPath: path)
    let isBound = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0
    guard isBound, listen(descriptor, 1) == 0 else { throw TestFailure("\(path): \(errno)") }
    return descriptor
}

/// A plain client of a Unix domain socket.
private struct UnixConnection: ~Copyable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let address = try SocketAddress(unixDomainSocketPath: path)
        guard address.withSockAddr({ connect(descriptor, $0, socklen_t($1)) }) == 0 else {
            throw TestFailure("\(path): \(errno)")
        }
    }

    deinit {
        close(descriptor)
    }

    /// Sends a line and reads one; empty at the end of the connection.
    func exchange(_ line: String) throws -> String {
        let bytes = Array((line + "\n").utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw TestFailure("send: \(errno)")
        }
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1, byte != UInt8(ascii: "\n") { answer.append(byte) }
        return String(decoding: answer, as: UTF8.self)
    }
}
