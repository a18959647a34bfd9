import FoundationEssentials
import Subprocess
import SystemPackage
import Testing

/// A desktop of a test's own: a message bus, and a service on it that shows notifications (see `notifications.py`).
struct FakeDesktop: Sendable {
    /// What tells a program of the bus.
    let environment: [String: String]
    /// The service's lines: a call each.
    let calls: HostEvents
    /// Steers the service.
    let tell: @Sendable (String) async throws -> Void

    /// Waits for a call.
    func call(
        _ name: String,
        where condition: @escaping @Sendable ([String: JSONValue]) -> Bool = { _ in true }
    ) async throws -> [String: JSONValue] {
        try await calls.firstLine(name) { $0["call"]?.string == name && condition($0) }
    }

    /// Runs a body with a desktop whose notifications can do so much.
    static func with<R: Sendable>(
        _ user: Sandbox,
        capabilities: [String] = ["actions", "body"],
        _ body: @escaping @Sendable (FakeDesktop) async throws -> R
    ) async throws -> R {
        let socket = user.directory + "/desktop"
        let configuration = try user.file(
            "bus.conf",
            Array(
                """
                <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
                 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
                <busconfig><type>session</type><listen>unix:path=\(socket)</listen><auth>EXTERNAL</auth>
                <policy context="default"><allow send_destination="*"/><allow own="*"/></policy></busconfig>
                """.utf8
            )
        )
        let outcome = try await run(
            user,
            "dbus-daemon",
            ["--config-file=\(configuration)", "--nofork", "--print-address"]
        ) {
            bus,
            _ in
            try await bus.firstText()
            return try await service(user, socket: socket, capabilities: capabilities, body)
        }
        return outcome
    }

    private static func service<R: Sendable>(
        _ user: Sandbox,
        socket: String,
        capabilities: [String],
        _ body: @escaping @Sendable (FakeDesktop) async throws -> R
    ) async throws -> R {
        let script =
            "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Support/notifications.py"
        return try await run(user, "python3", [script, socket] + capabilities) { lines, tell in
            let desktop = FakeDesktop(
                environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(socket)"],
                calls: lines.events,
                tell: tell
            )
            _ = try await desktop.call("ready")
            return try await body(desktop)
        }
    }

    /// What a program prints: JSON goes to the events, and the first line of text opens a gate.
    private struct Lines: Sendable {
        let events = HostEvents()
        let texts = AsyncStream<String>.makeStream()

        func take(_ line: String) async throws {
            if line.hasPrefix("{") { try await events.take(line) } else { texts.continuation.yield(line) }
        }

        func end() async {
            await events.end()
            texts.continuation.finish()
        }

        func firstText() async throws {
            for await _ in texts.stream { return }
            throw Ended()
        }
    }

    private struct Ended: Error {}

    /// Runs a program while a body runs.
    private static func run<R: Sendable>(
        _ user: Sandbox,
        _ program: String,
        _ arguments: [String],
        _ body: @escaping @Sendable (Lines, @escaping @Sendable (String) async throws -> Void) async throws -> R
    ) async throws -> R {
        try await Subprocess.run(
            .name(program),
            arguments: Arguments(arguments),
            environment: user.processEnvironment([:]),
            input: .inputWriter,
            output: .sequence,
            error: .discarded
        ) { process in
            let lines = Lines()
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await line in process.standardOutput.strings() { try await lines.take(line) }
                    await lines.end()
                }
                defer { try? process.send(signal: .terminate) }
                return try await body(lines) { line in
                    _ = try await process.standardInputWriter.write(line + "\n")
                }
            }
        }.closureResult
    }
}
