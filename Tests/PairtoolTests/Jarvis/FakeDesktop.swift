import FoundationEssentials
import Subprocess
import SystemPackage

@testable import pairtool

/// A desktop of a test's own: a message bus, and a service on it that shows notifications (see `notifications.py`).
struct FakeDesktop: Sendable {
    /// What tells a program of the bus.
    let environment: [String: String]
    /// The service's lines: a call each.
    let calls: HostEvents
    /// Steers the service.
    let tell: @Sendable (String) async throws -> Void

    /// What this machine lacks for it.
    static let missing = ["/usr/bin/dbus-daemon", "/usr/bin/python3"].filter {
        !FileManager.default.isExecutableFile(atPath: $0)
    }

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
                <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
                <allow own="*"/></policy></busconfig>
                """.utf8
            )
        )
        let arguments = ["--config-file=\(configuration)", "--nofork", "--print-address"]
        return try await user.withProgram(.path("/usr/bin/dbus-daemon"), arguments) { bus in
            try await bus.firstText()
            return try await service(user, socket: socket, capabilities: capabilities, body)
        }
    }

    private static func service<R: Sendable>(
        _ user: Sandbox,
        socket: String,
        capabilities: [String],
        _ body: @escaping @Sendable (FakeDesktop) async throws -> R
    ) async throws -> R {
        let script =
            "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Support/notifications.py"
        return try await user.withProgram(.path("/usr/bin/python3"), [script, socket] + capabilities) { program in
            let desktop = FakeDesktop(
                environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(socket)"],
                calls: program.events,
                tell: program.tell
            )
            _ = try await desktop.call("ready")
            return try await body(desktop)
        }
    }
}
