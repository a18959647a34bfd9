import FoundationEssentials
import Glibc
import Subprocess
import SystemPackage

@testable import pairtool

/// A message bus of its own, with fake services of a desktop on it (`Tests/Support/desktop.py`).
struct PrivateBus: Sendable {
    let address: String
    /// What the services were asked: a line of JSON a call, under `call`.
    let events: HostEvents
    /// Steers the service.
    let tell: @Sendable (String) async throws -> Void

    var environment: [String: String] { ["DBUS_SESSION_BUS_ADDRESS": address] }

    /// What this machine lacks for it.
    static let missing: [String] = {
        var missing = ["/usr/bin/dbus-daemon", "/usr/bin/python3"].filter {
            !FileManager.default.isExecutableFile(atPath: $0)
        }
        if missing.isEmpty, system("/usr/bin/python3 -c 'import dbus, gi' >/dev/null 2>&1") != 0 {
            missing.append("python3-dbus or python3-gi")
        }
        return missing
    }()

    /// Waits for a call.
    func call(
        _ name: String,
        where condition: @escaping @Sendable ([String: ShownJSON]) -> Bool = { _ in true }
    ) async throws -> [String: ShownJSON] {
        try await events.firstLine(name) { $0["call"]?.string == name && condition($0) }
    }

    /// Runs a body beside a bus and the services that the words name; none without words.
    static func with<R: Sendable>(
        _ services: [String],
        _ body: @escaping @Sendable (PrivateBus) async throws -> R
    ) async throws -> R {
        let outcome = try await Subprocess.run(
            .path("/usr/bin/python3"),
            arguments: Arguments(["\(LAN.support)/desktop.py"] + services),
            environment: .inherit,
            input: .inputWriter,
            output: .sequence,
            error: .discarded
        ) { process in
            let events = HostEvents()
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await line in process.standardOutput.strings() { try await events.take(line) }
                    await events.end()
                }
                let ready = try await events.firstLine("the bus") { $0["address"] != nil }
                let result: R
                do {
                    let writer = process.standardInputWriter
                    let bus = PrivateBus(address: ready["address"]?.string ?? "", events: events) { line in
                        _ = try await writer.write(line + "\n")
                    }
                    result = try await body(bus)
                } catch {
                    try? await process.standardInputWriter.finish()
                    throw error
                }
                // Its end is the script's.
                try await process.standardInputWriter.finish()
                try await group.waitForAll()
                return result
            }
        }
        return outcome.closureResult
    }
}
