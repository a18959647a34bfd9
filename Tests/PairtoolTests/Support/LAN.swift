import FoundationEssentials
import Glibc
import Subprocess
import SystemPackage

@testable import pairtool

/// Runs scripts on small LANs of network namespaces (see `Tests/Support/lan.sh`).
enum LAN {
    struct Run: Sendable {
        var status: Int32
        var output: String
        var errors: String

        /// The lines of the output that are JSON of a type; others are left out.
        func lines<Line: Decodable>(as type: Line.Type) -> [Line] {
            output.split(separator: "\n").compactMap { try? JSONDecoder().decode(type, from: Data($0.utf8)) }
        }
    }

    /// A row of `discover --json`.
    struct Host: Decodable, Sendable {
        struct Address: Decodable, Sendable, Hashable {
            var address: String
            var port: Int
            var interface: String
        }

        struct Probe: Decodable, Sendable {
            var state: String
        }

        var id: String
        var name: String
        var addresses: [Address]
        var unresolved: Bool
        var probe: Probe?
    }

    /// A line of `discover --watch --json`.
    struct Event: Decodable, Sendable {
        var event: String
        var engine: String?
        var message: String?
        var host: Host?
    }

    /// What this machine lacks for the LAN, in words; empty if nothing.
    static let missing: [String] = {
        let folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        var missing = [
            "bash", "unshare", "nsenter", "ip", "tc", "python3", "dbus-daemon", "avahi-daemon", "avahi-publish-service",
        ].filter { tool in !folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)") } }
        if geteuid() != 0 {
            missing.append("root")
        } else if missing.isEmpty, !allowsNamespaces {
            missing.append("the right to make namespaces, or bridges in the kernel")
        }
        return missing
    }()

    /// Runs a bash script with the functions of `lan.sh`. Nothing of it outlives this call, cancelled or not.
    static func run(_ script: String) async throws -> Run {
        let outcome = try await Subprocess.run(
            .path(FilePath("\(support)/lan.sh")),
            arguments: ["-"],
            environment: .inherit.updating(["PAIRTOOL": BuiltTool.path, "SWIFT_BACKTRACE": "enable=no"]),
            input: .string(script),
            output: .string(limit: 64 << 20),
            error: .string(limit: 16 << 20)
        )
        let status: Int32 =
            switch outcome.terminationStatus {
            case .exited(let code): code
            case .signaled(let signal): 128 + signal
            }
        return Run(status: status, output: outcome.standardOutput, errors: outcome.standardError)
    }

    /// The directory of the scripts.
    static let support: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/") + "/Support"
    }()

    private static var allowsNamespaces: Bool {
        // system(3), for a value that is made in a synchronous initialiser.
        system(
            "unshare --net --mount --uts --ipc --pid --fork --kill-child --mount-proc"
                + " ip link add br0 type bridge >/dev/null 2>&1"
        ) == 0
    }
}
