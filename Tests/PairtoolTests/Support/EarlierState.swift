import CompanionTestSupport
import CompanionWire
import Crypto
import FoundationEssentials
import Identity
import LocalState
import Testing

/// What pairtool 0.1.0 left on the disk while it was three programs: `Tests/EarlierState`, as that release wrote it.
///
/// Keys, tokens and what follows from them, ports and the ends of what lapses stand there as `{{name}}`. They are made
/// anew for every test. The database is SQLite's own dump, with blobs that hold text written as text.
struct EarlierState: Sendable {
    /// The host's owner; `desk`, a user with hosts of every family; and `guest`, whom the host has revoked.
    let host, desk, guest: Sandbox
    /// What stands for each name.
    var values: [String: String]
    /// The chat on the host.
    let chat = "d758cbfc-264a-42c0-ae18-d2cc1703eb96"
    /// The turn that ran when the host was killed: the last one of the chat.
    let lastTurn = "ece2dce9-c584-4f1d-af14-f547e961b838"
    private let certificate: TestCertificate
    private let keys: [String: Curve25519.Signing.PrivateKey]

    static func with<R>(_ body: (EarlierState) async throws -> R) async throws -> R {
        try await Sandbox.with { host in
            try await Sandbox.with { desk in
                try await Sandbox.with { guest in
                    try await body(EarlierState(host: host, desk: desk, guest: guest))
                }
            }
        }
    }

    private init(host: Sandbox, desk: Sandbox, guest: Sandbox) throws {
        (self.host, self.desk, self.guest) = (host, desk, guest)
        certificate = try TestCertificate()
        values = [
            "host.directory": host.directory, "host.certificate": Base64.encode(certificate.der),
            "host.pin": certificate.spki,
            "garden.id": String(Digest.sha1(host.directory + "/garden").prefix(16)),
            "orchard.id": String(Digest.sha1(host.directory + "/data/pairtool/host/projects/orchard").prefix(16)),
            "desk.session": Base64URL.encode(Self.random(32)), "guest.session": Base64URL.encode(Self.random(32)),
            "tomorrow": Self.time(86_400), "soon": Self.time(300), "earlier": Self.time(-600),
            "hour": String(Int(Date().timeIntervalSince1970 / 3600) - 1),
            "aicli.token": Self.hex(Self.random(16)), "jarvis.token": Base64URL.encode(Self.random(24)),
            "lumi.openai": madeKeyText(), "lumi.anthropic": madeKeyText(), "lumi.search": madeKeyText(),
            "anthropic.key": madeKeyText(),
        ]
        values["desk.session.hash"] = Digest.sha256(values["desk.session"] ?? "")
        // Nobody listens there: a test puts in the ports of the hosts that it runs. A host that was named by its address
        // keeps the id that it got for it.
        for (index, name) in ["host", "plain", "lumi", "aicli", "jarvis", "mac", "ollama"].enumerated() {
            values[name + ".port"] = String(index + 1)
            values[name + ".id"] = String(Digest.sha256("127.0.0.1:\(index + 1)").prefix(16))
        }
        var keys: [String: Curve25519.Signing.PrivateKey] = [:]
        for name in ["host", "desk", "guest", "tablet"] {
            let key = Curve25519.Signing.PrivateKey()
            keys[name] = key
            let text = Base64.encode(key.publicKey.rawRepresentation)
            values[name + ".key"] = text
            values[name + ".id"] = String(Digest.sha256(text).prefix(16))
        }
        self.keys = keys
        values["last.turn"] = String(Digest.sha256("\(values["host.id"] ?? "") \(chat)").prefix(16))
    }

    /// Names a host in a command that prints JSON.
    func at(_ family: String) -> [String] { ["--host", values[family + ".id"] ?? "", "--json"] }

    var database: String { host.directory + "/data/pairtool/host/host.sqlite" }

    /// Lays down the host's directory.
    func layDownHost() async throws {
        try layDown("host", in: host)
        for path in ["/garden", "/data/pairtool/host/projects/orchard"] {
            try FileManager.default.createDirectory(atPath: host.directory + path, withIntermediateDirectories: true)
        }
        try write(identity("host"), to: host, "data/pairtool/host/identity.key")
        try write(Array(certificate.hostFile.utf8), to: host, "data/pairtool/host/tls.pem")
        let made = try await host.shell(
            """
            cd data/pairtool/host && umask 077 && python3 -c 'import sqlite3
            database = sqlite3.connect("host.sqlite")
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(open("host.sql").read())
            database.close()' && rm host.sql
            """
        )
        try #require(made.status == 0, "\(made)")
    }

    /// Lays down the directories of the users.
    func layDownUsers() throws {
        for (name, user) in [("desk", desk), ("guest", guest)] {
            try layDown(name, in: user)
            try write(identity(name), to: user, "data/pairtool/identity.key")
        }
    }

    /// Runs a body beside today's host on the directory of the old one, with the users laid down.
    func withHost<R: Sendable>(
        _ body: @escaping @Sendable (_ state: EarlierState, _ ports: (plain: Int, secure: Int)) async throws -> R
    ) async throws -> R {
        try await layDownHost()
        let arguments = ["--legacy", "--project", host.directory + "/garden", "--name", "Shed"]
        return try await withRunningHost(host, arguments + ["--agent-command", "/bin/cat"]) { [self] events in
            let ports = try await events.ports
            var state = self
            state.values["host.port"] = String(ports.secure)
            state.values["plain.port"] = String(ports.plain)
            try state.layDownUsers()
            return try await body(state, ports)
        }
    }

    /// What the host's database holds: a line a row, and a line for what each table is.
    func databaseLines(of path: String) async throws -> (rows: Set<String>, schema: Set<String>) {
        let read = try await host.shell(
            """
            python3 -c 'import sqlite3, sys
            database = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
            for name, kind, text in database.execute("SELECT name, type, sql FROM sqlite_master").fetchall():
                print("schema", name, repr(text))
                if kind != "table": continue
                rows = database.execute("SELECT * FROM " + name)
                names = [column[0] for column in rows.description]
                for row in rows: print(name, *(f"{pair[0]}={pair[1]!r}" for pair in zip(names, row)))
            ' '\(path)'
            """
        )
        try #require(read.status == 0, "\(read)")
        let lines = Set(read.out.split(separator: "\n").map(String.init))
        let schema = lines.filter { $0.hasPrefix("schema ") }
        return (lines.subtracting(schema), schema)
    }

    // MARK: Files

    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/EarlierState"

    private func layDown(_ name: String, in sandbox: Sandbox) throws {
        let root = "\(Self.root)/\(name)"
        for file in try FileManager.default.subpathsOfDirectory(atPath: root) {
            var isDirectory = false
            guard FileManager.default.fileExists(atPath: "\(root)/\(file)", isDirectory: &isDirectory), !isDirectory
            else { continue }
            let text = try String(contentsOf: URL(filePath: "\(root)/\(file)"), encoding: .utf8)
            try write(Array(try chained(try filled(text)).utf8), to: sandbox, try filled(file))
        }
    }

    private func write(_ bytes: [UInt8], to sandbox: Sandbox, _ path: String) throws {
        try bytes.withUnsafeBytes { try PrivateFile.write($0, to: "\(sandbox.directory)/\(path)") }
    }

    /// The file of a key: a mark, the seed, the public key.
    private func identity(_ name: String) throws -> [UInt8] {
        let key = try #require(keys[name])
        return Array("PTKEY01\n".utf8) + key.rawRepresentation + key.publicKey.rawRepresentation
    }

    private func filled(_ text: String) throws -> String {
        try text.replacing(/{{([a-z.]+)}}/) { match in
            switch match.1 {
            case "random": return Self.hex(Self.random(32))
            case "nonce": return Base64URL.encode(Self.random(16))
            case let name: return try #require(values[String(name)], "\(name)")
            }
        }
    }

    /// Puts the hashes of the audit in their places, `{{audit.1}}` and so on.
    private func chained(_ text: String) throws -> String {
        var text = text
        var last: [UInt8] = []
        let rows = /INSERT INTO audit VALUES\((\d+),'([^']*)','([^']*)',(?:NULL|'([^']*)'),'([^']*)',/
        for row in text.matches(of: rows) {
            let device = row.4.map { "=" + $0 } ?? ""
            let fields = ["pairtool-audit-1", String(row.1), String(row.2), String(row.3), device, String(row.5)]
            last = Array(SHA256.hash(data: lvCat(fields.map { Array($0.utf8) } + [last])))
            text = text.replacing("{{audit.\(row.1)}}", with: Self.hex(last))
        }
        return text
    }

    private static func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255) } }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func time(_ seconds: TimeInterval) -> String {
        CompanionTimestamp.string(from: Date().addingTimeInterval(seconds))
    }
}
