import CompanionTestSupport
import FoundationEssentials
import NIOConcurrencyHelpers
import Subprocess
import SystemPackage
import Terminal
import Testing

@testable import pairtool

/// A user of the tool, with a home of its own.
struct Sandbox: Sendable {
    let directory: String

    /// How a command ended.
    struct Result: Sendable {
        var status: Int32
        var out: String
        var err: String

        /// The lines of standard output as JSON objects.
        var json: [[String: ShownJSON]] {
            get throws {
                try out.split(separator: "\n").map {
                    try JSONDecoder().decode([String: ShownJSON].self, from: Data($0.utf8))
                }
            }
        }

        /// Whether the command has listed nothing, and said so.
        var isEmptyList: Bool { status == 0 && out.isEmpty && !err.isEmpty }

        /// Whether the error report on standard error has a code.
        func failed(with code: String) -> Bool { (try? errorCode) == code }

        /// The `code` of the error report on standard error.
        var errorCode: String? {
            get throws {
                let line = try #require(err.split(separator: "\n").last { $0.hasPrefix("{") })
                return try JSONDecoder().decode([String: ShownJSON].self, from: Data(line.utf8))["error"]?["code"]?
                    .string
            }
        }
    }

    /// Runs a body in a new sandbox, which is gone afterwards.
    static func with<R>(_ body: (Sandbox) async throws -> R) async throws -> R {
        let directory = FileManager.default.temporaryDirectory.path + "/pt-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        return try await body(Sandbox(directory: directory))
    }

    /// For a user who does not see what is advertised on this machine: mDNS is used where nobody else is.
    static let elsewhere: [String: String] =
        ProcessInfo.processInfo.environment["PAIRTOOL_PRIVATE_NETWORK"] == "yes" ? ["PAIRTOOL_INTERFACE": "test0"] : [:]

    var environment: [String: String] {
        [
            "HOME": directory, "XDG_DATA_HOME": directory + "/data", "XDG_STATE_HOME": directory + "/state",
            "XDG_RUNTIME_DIR": directory + "/run", "PATH": "/usr/bin:/bin",
            "SWIFT_BACKTRACE": "enable=no",
        ]
    }

    /// Runs a command in this process, with streams and an environment of its own.
    func run(
        _ arguments: String...,
        stdin: String = "",
        environment extra: [String: String] = [:],
        terminal: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }
    ) async -> Result {
        await run(arguments, stdin: stdin, environment: extra, terminal: terminal, now: now)
    }

    /// The same, with the words as a list.
    func run(
        _ arguments: [String],
        stdin: String = "",
        environment extra: [String: String] = [:],
        terminal: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }
    ) async -> Result {
        let (out, err) = (MemorySink(), MemorySink())
        let context = context(out, err, stdin: stdin, environment: extra, terminal: terminal, now: now)
        let status = await TerminalContext.$current.withValue(context) {
            await CommandRunner.run(arguments)
        }
        return Result(status: status.rawValue, out: out.text, err: err.text)
    }

    /// Streams and surroundings of a command in this process, in which time passes by waiting.
    func context(
        _ out: MemorySink = MemorySink(),
        _ err: MemorySink = MemorySink(),
        stdin: String = "",
        environment extra: [String: String] = [:],
        terminal: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> TerminalContext {
        var context = TerminalContext(
            stdout: out,
            stderr: err,
            stdin: MemoryInput(stdin),
            environment: environment.merging(extra) { $1 },
            stdoutIsTerminal: terminal,
            stderrIsTerminal: terminal,
            stdinIsTerminal: terminal,
            editsLines: false,
            windowSize: { terminal ? .init(columns: 80, rows: 40) : nil },
            now: now
        )
        context.clock = ImmediateClock()
        // Beside other load, a host of a test may take longer than a user would wait.
        context.answerLimit = .seconds(60)
        return context
    }

    /// Runs the built binary.
    func spawn(
        _ arguments: [String],
        stdin: String = "",
        environment extra: [String: String] = [:]
    ) async throws -> Result {
        try await spawn(program: [BuiltTool.path] + arguments, stdin: stdin, environment: extra)
    }

    /// Runs a program with its arguments.
    func spawn(
        program: [String],
        stdin: String = "",
        environment extra: [String: String] = [:]
    ) async throws -> Result {
        let outcome = try await Subprocess.run(
            .path(FilePath(program[0])),
            arguments: Arguments(Array(program.dropFirst())),
            environment: processEnvironment(extra),
            input: .string(stdin),
            output: .string(limit: 64 << 20),
            error: .string(limit: 1 << 20)
        )
        let status: Int32 =
            switch outcome.terminationStatus {
            case .exited(let code): code
            case .signaled(let signal): 128 + signal
            }
        return Result(status: status, out: outcome.standardOutput, err: outcome.standardError)
    }

    /// The environment for a process of this user.
    func processEnvironment(_ extra: [String: String]) -> Environment {
        var variables: [Environment.Key: String] = [:]
        for (name, value) in environment.merging(extra, uniquingKeysWith: { $1 }) {
            variables[Environment.Key(stringLiteral: name)] = value
        }
        return .custom(variables)
    }

    /// Pairs with a host of v1 at an address, with the digits of a fake.
    func pairWithCode(_ url: String) async -> Result {
        await run("pair", "--url", url, "--allow-legacy", "--code-stdin", "--json", stdin: "482913\n")
    }

    /// Pairs with a fake Mac, so that it is the default host.
    func pair(_ mac: FakeMac) async {
        let result = await run(
            "pair",
            "--url",
            "http://\(mac.endpointText)",
            "--code-stdin",
            "--allow-legacy",
            "--name",
            "desk",
            stdin: "482913\n"
        )
        #expect(result.status == 0, "\(result.err)")
    }

    /// Writes the user's `config.toml`.
    func configure(_ text: String) throws {
        let directory = directory + "/.config/pairtool"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: directory + "/config.toml"))
    }

    /// Writes a shell script that can be run, in a folder that is made for it.
    ///
    /// - Returns: The folder.
    @discardableResult
    func program(_ name: String, _ script: String) throws -> String {
        let path = "\(directory)/\(name)"
        let folder = "/" + path.split(separator: "/").dropLast().joined(separator: "/")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return folder
    }

    /// A path of a file with this content.
    func file(_ name: String, _ content: [UInt8]) throws -> String {
        let path = "\(directory)/\(name)"
        try Data(content).write(to: URL(filePath: path))
        return path
    }
}

/// Runs a body with a fake Mac, and a user who has paired with it.
func withPairedMac(
    _ script: FakeMacScript = FakeMacScript(),
    _ body: (FakeMac, Sandbox) async throws -> Void
) async throws {
    try await withFakeMac(script) { mac in
        try await Sandbox.with { user in
            await user.pair(mac)
            try await body(mac, user)
        }
    }
}

/// Keeps what is written.
struct MemorySink: TextSink {
    private let bytes = NIOLockedValueBox<[UInt8]>([])

    func write(_ buffer: UnsafeRawBufferPointer) {
        bytes.withLockedValue { $0.append(contentsOf: buffer) }
    }

    var text: String { String(decoding: bytes.withLockedValue(\.self), as: UTF8.self) }
}

/// Prepared input.
private struct MemoryInput: InputSource {
    private let rest: NIOLockedValueBox<[UInt8]>

    init(_ text: String) {
        rest = NIOLockedValueBox(Array(text.utf8))
    }

    func readAll(limit: Int) -> [UInt8]? {
        rest.withLockedValue { rest in
            defer { rest = [] }
            return rest.count > limit ? nil : rest
        }
    }

    func readSome() -> [UInt8]? {
        let rest = readAll(limit: .max) ?? []
        return rest.isEmpty ? nil : rest
    }

    func readLine() -> String? {
        rest.withLockedValue { rest in
            guard !rest.isEmpty else { return nil }
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest.removeFirst(min(line.count + 1, rest.count))
            return String(decoding: line, as: UTF8.self)
        }
    }
}

/// A value of JSON, for looking into output.
indirect enum ShownJSON: Decodable, Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([ShownJSON])
    case object([String: ShownJSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([ShownJSON].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: ShownJSON].self))
        }
    }

    var string: String? { if case .text(let text) = self { text } else { nil } }
    var array: [ShownJSON]? { if case .list(let elements) = self { elements } else { nil } }

    subscript(key: String) -> ShownJSON? { if case .object(let members) = self { members[key] } else { nil } }
}
