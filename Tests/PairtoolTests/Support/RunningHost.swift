import CompanionWire
import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

@testable import pairtool

/// Runs the tool as a host and gives its events to a body.
func withRunningHost<R: Sendable>(
    _ host: Sandbox,
    _ arguments: [String],
    environment: [String: String] = [:],
    _ body: @escaping @Sendable (HostEvents) async throws -> R
) async throws -> R {
    let outcome = try await withHostProcess(host, arguments, environment, endedBy: .interrupt) { events, _ in
        try await body(events)
    }
    #expect(outcome.status == .exited(0), "a host that is told to end ends well")
    return outcome.result
}

/// Runs a host that dies by SIGKILL when `body` returns, or before.
func withDoomedHost<R: Sendable>(
    _ host: Sandbox,
    _ arguments: [String],
    environment: [String: String] = [:],
    _ body: @escaping @Sendable (HostEvents, _ kill: @escaping @Sendable () throws -> Void) async throws -> R
) async throws -> R {
    try await withHostProcess(host, arguments, environment, endedBy: .kill, body).result
}

private func withHostProcess<R: Sendable>(
    _ host: Sandbox,
    _ arguments: [String],
    _ environment: [String: String],
    endedBy signal: Signal,
    _ body: @escaping @Sendable (HostEvents, _ end: @escaping @Sendable () throws -> Void) async throws -> R
) async throws -> (status: TerminationStatus, result: R) {
    let outcome = try await Subprocess.run(
        .path(FilePath(BuiltTool.path)),
        arguments: Arguments(
            ["host", "--json", "--show-secrets", "--port", "0", "--engine", "embedded"] + arguments
        ),
        environment: host.processEnvironment(environment),
        input: .none,
        output: .sequence,
        error: .discarded
    ) { process in
        let events = HostEvents()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await line in process.standardOutput.strings() {
                    do {
                        try await events.take(line)
                    } catch  where signal == .kill {
                        // The last line of a killed process may be half a one.
                    }
                }
                await events.end()
            }
            let end: @Sendable () throws -> Void = { try process.send(signal: signal) }
            let result = try await body(events, end)
            try end()
            try await group.waitForAll()
            return result
        }
    }
    return (outcome.terminationStatus, outcome.closureResult)
}

/// A host with one project, and a user of it.
func withProject<R>(_ body: (Sandbox, Sandbox) async throws -> R) async throws -> R {
    try await Sandbox.with { host in
        try await Sandbox.with { user in
            try FileManager.default.createDirectory(
                atPath: host.directory + "/garden",
                withIntermediateDirectories: true
            )
            _ = try host.file("garden/README.md", Array("# Garden\n\nRoses and beans.\n".utf8))
            return try await body(host, user)
        }
    }
}

/// The lines of JSON that a process has written, to be waited for.
actor HostEvents {
    private var events: [[String: ShownJSON]] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var hasEnded = false

    func take(_ line: String) throws {
        guard !line.isEmpty else { return }
        events.append(try JSONDecoder().decode([String: ShownJSON].self, from: Data(line.utf8)))
        wake()
    }

    func end() {
        hasEnded = true
        wake()
    }

    func has(_ name: String) -> Bool {
        events.contains { Self.name(of: $0) == name }
    }

    func hasAny(_ names: String...) -> Bool {
        names.contains { has($0) }
    }

    /// The first event of a name for which a condition holds; waits until there is one.
    func first(
        _ name: String,
        where condition: @Sendable ([String: ShownJSON]) -> Bool = { _ in true }
    ) async throws -> [String: ShownJSON] {
        try await firstLine(name, where: { Self.name(of: $0) == name && condition($0) })
    }

    /// The first line for which a condition holds; waits until there is one.
    ///
    /// - Parameter what: What is waited for, in words.
    func firstLine(
        _ what: String,
        where condition: @Sendable ([String: ShownJSON]) -> Bool
    ) async throws -> [String: ShownJSON] {
        // Lines do not change: each is looked at once.
        var next = 0
        while true {
            if let found = events[next...].firstIndex(where: condition) { return events[found] }
            next = events.count
            guard !hasEnded else { throw Missing(name: what, seen: events.compactMap(Self.name)) }
            try await nextLine()
        }
    }

    /// Waits for the end of the output.
    func ended() async throws {
        while !hasEnded { try await nextLine() }
    }

    /// Waits for a line, the end of the output, or the end of the test's time.
    private func nextLine() async throws {
        try Task.checkCancellation()
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting.append($0) }
        } onCancel: {
            Task { await wake() }
        }
        try Task.checkCancellation()
    }

    /// Hosts call it `event`, live feeds `type`.
    private static func name(of event: [String: ShownJSON]) -> String? {
        (event["event"] ?? event["type"])?.string
    }

    /// What the first challenge shows.
    var payload: PairingPayload {
        get async throws {
            let text = try #require(try await first("challenge")["qrPayload"]?.string)
            guard case .pairing(let payload) = QRContent(Array(text.utf8)) else { throw CancellationError() }
            return payload
        }
    }

    /// Where the host listens.
    var ports: (plain: Int, secure: Int) {
        get async throws {
            let event = try await first("listening")
            guard case .number(let plain)? = event["port"], case .number(let secure)? = event["tlsPort"] else {
                throw CancellationError()
            }
            return (Int(plain), Int(secure))
        }
    }

    /// Everything that the host has said so far.
    var all: [[String: ShownJSON]] { events }

    struct Missing: Error {
        var name: String
        var seen: [String]
    }

    private func wake() {
        let all = waiting
        waiting = []
        for continuation in all { continuation.resume() }
    }
}
