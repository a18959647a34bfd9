import AsyncHTTPClient
import CompanionWire
import FoundationEssentials
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import ServiceLifecycle
import Subprocess
import Testing

@testable import CompanionHost

/// A real host on a free port of the loopback interface, with projects and a database in a fresh directory.
struct TestHost: Sendable {
    let port: Int
    let tlsPort: Int
    /// The host's TLS certificate, for clients that pin it.
    let certificate: NIOSSLCertificate
    /// The first project's directory.
    let project: String
    let server: CompanionBridgeServer

    /// The first event that a closure makes something of. Events before it are lost.
    func event<Value: Sendable>(_ pick: (HostEvent) -> Value?) async throws -> Value {
        for await event in server.events {
            if let value = pick(event) { return value }
        }
        throw TestFailure("the host ended")
    }

    /// The next challenge.
    func challenge() async throws -> PairingStartResponse {
        try await event { if case .challenge(let challenge) = $0 { challenge } else { nil } }
    }

    /// Pairs over 127.0.0.1 with a challenge of its own.
    @discardableResult
    func pair(key: String = "test key", name: String = "Test") async throws -> CompanionStatusResponse {
        let start = try await post("/companion/pairing/start", "{}").decoded(PairingStartResponse.self)
        let reply = try await complete(code: start.code, key: key, name: name)
        return try reply.decoded(CompanionStatusResponse.self)
    }

    func complete(code: String, token: String? = nil, key: String = "test key", name: String = "Test") async throws
        -> Reply
    {
        let body = PairingCompleteRequest(
            pairingCode: code,
            pairingToken: token,
            deviceName: name,
            devicePublicKey: key
        )
        return try await post("/companion/pairing/complete", json(body))
    }

    /// Sends a prompt and waits for all of the answer.
    func ask(
        _ prompt: String,
        chat: String = "chat-1",
        path: String? = nil,
        model: String? = "builtin",
        tools: [String]? = nil
    ) async throws -> Reply {
        let body = ContinueChatRequest(prompt: prompt, projectPath: path, model: model, allowedTools: tools)
        return try await post("/companion/chats/\(chat)/continue", json(body))
    }

    func get(_ path: String) async throws -> Reply { try await send("GET", path) }

    func post(_ path: String, _ body: String) async throws -> Reply {
        try await send("POST", path, body: body)
    }

    /// Waits as long as a whole request may take: a turn may say nothing for a minute on a busy machine.
    private static let http = HTTPClient(eventLoopGroupProvider: .singleton)

    func send(
        _ method: String,
        _ path: String,
        body: String? = nil,
        type: String = "application/json"
    ) async throws -> Reply {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = HTTPMethod(rawValue: method)
        if let body {
            request.headers.add(name: "Content-Type", value: type)
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await Self.http.execute(request, timeout: .seconds(600))
        let content = try await response.body.collect(upTo: 64 << 20)
        return Reply(
            status: Int(response.status.code),
            headers: response.headers.map { ($0.name.lowercased(), $0.value) },
            body: String(buffer: content)
        )
    }

    func json(_ value: some Encodable) throws -> String {
        String(decoding: try CompanionJSON.encoder().encode(value), as: UTF8.self)
    }
}

/// What a host answered.
struct Reply: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: String

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The text of a JSON error.
    var error: String? { try? decoded(CompanionErrorResponse.self).error }

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try CompanionJSON.decoder().decode(type, from: Data(body.utf8))
    }

    /// The texts of an answer's `text` frames, put together.
    var answer: String {
        frames.reduce(into: "") { text, frame in
            if case .text(let piece) = frame { text += piece }
        }
    }

    /// The frames of an answer but `[DONE]`.
    var frames: [TurnEvent] {
        // In v2, a line with the frame's number stands before it.
        body.components(separatedBy: "\n").compactMap { line in
            guard line.hasPrefix("data: {") else { return nil }
            return try? CompanionJSON.decoder().decode(TurnEvent.self, from: Data(line.dropFirst(6).utf8))
        }
    }
}

struct TestFailure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// Makes a fresh directory and removes it with everything in it.
func withTemporaryDirectory<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    // Without symbolic links, so that paths can be compared.
    let base = FileManager.default.temporaryDirectory.path
    let path = "\(base)/pairtool-host-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

func write(_ text: String, to path: String) throws {
    let directory = path.split(separator: "/").dropLast().joined(separator: "/")
    try FileManager.default.createDirectory(atPath: "/" + directory, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: path))
}

/// Runs a host, and ends it gracefully when the body returns.
func withHost<Result: Sendable>(
    in directory: String? = nil,
    clock: HostClock = .system,
    connectionClock: HostClock = .steady,
    logger: Logger = .silent,
    configure: (inout CompanionHostConfiguration) -> Void = { _ in },
    _ body: (TestHost) async throws -> Result
) async throws -> Result {
    guard let directory else {
        return try await withTemporaryDirectory { directory in
            try await withHost(
                in: directory,
                clock: clock,
                connectionClock: connectionClock,
                logger: logger,
                configure: configure,
                body
            )
        }
    }
    let project = directory + "/project"
    try FileManager.default.createDirectory(atPath: project, withIntermediateDirectories: true)
    var configuration = CompanionHostConfiguration(
        name: "Test host",
        port: 0,
        legacy: true,
        projects: [project],
        databasePath: directory + "/state/host.sqlite",
        version: "1.2.3"
    )
    configure(&configuration)
    let server = try CompanionBridgeServer(
        configuration: configuration,
        logger: logger,
        clock: clock,
        connectionClock: connectionClock
    )
    let keys = try HostCertificate(directory: directory + "/state")
    return try await running(server) { ports in
        try await body(
            TestHost(
                port: ports.plain,
                tlsPort: ports.secure,
                certificate: try NIOSSLCertificate(bytes: keys.der, format: .der),
                project: project,
                server: server
            )
        )
    }
}

/// Runs a server while a body works with it.
func running<Result: Sendable>(
    _ server: CompanionBridgeServer,
    _ body: (HostPorts) async throws -> Result
) async throws -> Result {
    let group = ServiceGroup(configuration: .init(services: [server], logger: .silent))
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await GitRepository.$time.withValue(gitTime) { try await group.run() } }
        var ports: HostPorts?
        for await event in server.events {
            guard case .listening(let plain, let secure) = event else { continue }
            ports = HostPorts(plain: plain, secure: secure)
            break
        }
        guard let ports else {
            try await tasks.waitForAll()
            throw TestFailure("the host did not listen")
        }
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(ports))
        } catch {
            result = .failure(error)
        }
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
        return try result.get()
    }
}

/// How long git may take where no test is about that: a busy machine needs more time than a host gives it.
let gitTime = Duration.seconds(60)

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// Runs a shell script, and throws when it fails.
func shell(_ script: String) async throws {
    let result = try await Subprocess.run(
        .name("sh"),
        arguments: ["-c", script],
        output: .discarded,
        error: .string(limit: 64 << 10)
    )
    guard result.terminationStatus.isSuccess else { throw TestFailure("\(result.standardError)") }
}

extension HostEvent {
    /// How a turn has ended; nil for other events.
    var turnEnd: TurnState? {
        if case .turnFinished(_, _, let state) = self { state } else { nil }
    }
}
