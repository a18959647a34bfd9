import Dispatch
import Foundation
import Testing

@testable import pairtool

/// `pairtool discover` against the real Avahi daemon and D-Bus, in namespaces of their own (see `netns-daemon.sh`).
@Suite(
    "Discovery by the Avahi daemon, in a private network",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(
        if: DaemonNamespace.missing.isEmpty,
        "skipped, missing: \(DaemonNamespace.missing.joined(separator: ", "))"
    )
)
struct DaemonDiscoveryTests {
    @Test("A host that is advertised under two types and on two interfaces is one line")
    func oneLine() async throws {
        let run = try await DaemonNamespace.run(
            """
            publish Studio _copilotforge-companion._tcp 7878 id=0123456789abcdef name=Atelier
            publish Studio _cf-companion._tcp 7878 id=0123456789abcdef name=Atelier
            "$PAIRTOOL" discover --engine daemon --json
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        let host = try #require(run.hosts.first)
        #expect(run.hosts.count == 1)
        #expect(host.id == "0123456789abcdef")
        #expect(host.name == "Atelier")
        #expect(host.family == "copilotforge")
        #expect(host.addresses.contains { $0.address == "10.77.0.1" && $0.port == 7878 && $0.interface == "pt0" })
        #expect(host.addresses.contains { $0.address == "fe80::77:1%pt0" && $0.port == 7878 && $0.interface == "pt0" })
        #expect(host.addresses.contains { $0.address == "127.0.0.1" && $0.interface == "lo" })
    }

    @Test("Hosts of other families are lines of their own, and names with escape sequences stay escaped")
    func families() async throws {
        let run = try await DaemonNamespace.run(
            """
            publish "$(printf 'Evil \\033[31mred')" _lumiagent._tcp 7001
            publish Fourth _aiclicode._tcp 7002
            "$PAIRTOOL" discover --engine daemon --json
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(Set(run.hosts.map(\.family)) == ["lumi", "aicli"])
        #expect(!run.output.contains("\u{1B}") && !run.errors.contains("\u{1B}"))
    }

    @Test("At a terminal, help lists the commands of families in sight; in a pipe, those of paired hosts only")
    func help() async throws {
        let run = try await DaemonNamespace.run(
            """
            publish Ada _lumiagent._tcp 7001
            avahi-browse --terminate --parsable _lumiagent._tcp | grep -q Ada
            # A busy machine may need more than the time for which help waits.
            until script --quiet --command "'$PAIRTOOL' --help" /run/help </dev/null | grep -q '  lumi  '; do :; done
            cat /run/help
            "$PAIRTOOL" --help >&2
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("  lumi  ") && !run.output.contains("  aicli  "), "\(run.output)")
        #expect(run.errors.contains("  discover  ") && !run.errors.contains("  lumi  "), "\(run.errors)")
    }

    @Test("With a daemon and nothing advertised, the exit code is 3")
    func nothing() async throws {
        let run = try await DaemonNamespace.run(#""$PAIRTOOL" discover --engine daemon --json"#)
        #expect(run.status == 3)
        #expect(run.output.isEmpty)
    }

    @Test("Without a daemon, --engine daemon fails and says so; by default the embedded engine takes over")
    func noDaemon() async throws {
        let refused = try await DaemonNamespace.run(#""$PAIRTOOL" discover --engine daemon --json"#, daemon: false)
        #expect(refused.status == 1)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.contains("Avahi daemon"))
        let embedded = try await DaemonNamespace.run(#""$PAIRTOOL" discover --json"#, daemon: false)
        #expect(embedded.status == 3, "\(embedded.errors)")
    }

    @Test("A watch survives the daemon: after a restart it reports what is advertised then")
    func restart() async throws {
        let run = try await DaemonNamespace.run(
            """
            publish First _lumiagent._tcp 7001
            mkfifo /run/watch
            "$PAIRTOOL" discover --engine daemon --watch --json >/run/watch 2>/dev/null &
            exec 4</run/watch
            while read -r line <&4; do case $line in *First*) break ;; esac; done
            kill "$PAIRTOOL_AVAHI_PID"
            wait_for_exit "$PAIRTOOL_AVAHI_PID"
            avahi-daemon --no-drop-root --no-rlimits --no-chroot --file /run/avahi.conf >/run/avahi2.log 2>&1 &
            wait_for_line 'Server startup complete' /run/avahi2.log
            publish Second _lumiagent._tcp 7002
            while read -r line <&4; do case $line in *Second*) echo found; exit 0 ;; esac; done
            echo "the watch ended"
            exit 1
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "found\n")
    }

    @Test("A host on the network is found, and paired with over a link-local address with its zone")
    func linkLocal() async throws {
        let run = try await DaemonNamespace.run(
            """
            export XDG_DATA_HOME=/run/data XDG_STATE_HOME=/run/state XDG_RUNTIME_DIR=/run/runtime
            mkdir /run/garden
            "$PAIRTOOL" host --lan --name Shed --project /run/garden --json --show-secrets >/run/host.out 2>&1 &
            wait_for_line '"advertised"' /run/host.out
            wait_for_line '"challenge"' /run/host.out
            code=$(sed -n 's/.*"code":"\\([0-9]*\\)".*/\\1/p' /run/host.out | head -n 1)
            printf '%s\n' "$code" |
                "$PAIRTOOL" pair --url 'http://[fe80::77:1%pt0]:7878' --code-stdin --allow-legacy >&2 || exit 1
            "$PAIRTOOL" chats >&2 || exit 1
            "$PAIRTOOL" discover --interface pt0 --json
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        let host = try #require(run.hosts.first)
        #expect(host.name == "Shed")
        #expect(host.addresses.contains { $0.address == "fe80::77:1%pt0" && $0.port == 7878 })
        #expect(!host.addresses.contains { $0.interface == "lo" })
    }
}

/// Runs shell scripts beside a daemon of their own.
enum DaemonNamespace {
    struct Host: Decodable {
        struct Address: Decodable {
            var address: String
            var port: Int
            var interface: String
        }

        var id: String
        var name: String
        var family: String
        var addresses: [Address]
    }

    struct Run {
        var status: Int32
        var output: String
        var errors: String

        /// The lines of the output that are hosts.
        var hosts: [Host] {
            output.split(separator: "\n").compactMap { try? JSONDecoder().decode(Host.self, from: Data($0.utf8)) }
        }
    }

    /// What this machine lacks for the namespace, in words; empty if nothing.
    static let missing: [String] = {
        let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        var missing = ["unshare", "ip", "dbus-daemon", "avahi-daemon", "avahi-publish"].filter { tool in
            !folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)") }
        }
        if geteuid() != 0 {
            missing.append("root")
        } else if missing.isEmpty, !allowsNamespaces() {
            missing.append("the right to make namespaces")
        }
        return missing
    }()

    private static func allowsNamespaces() -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc",
            "ip", "link", "add", "pt0", "type", "veth", "peer", "name", "pt1",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Shell functions for the scripts: `publish NAME TYPE PORT [TXT…]` returns when the service is established.
    private static let functions = """
        set -u
        count=0
        publish() {
            count=$((count + 1))
            mkfifo "/run/publish.$count"
            avahi-publish -s "$@" >"/run/publish.$count" 2>&1 &
            exec 3<"/run/publish.$count"
            read -r established <&3
            case $established in Established*) ;; *) echo "avahi-publish: $established" >&2; exit 124 ;; esac
        }
        wait_for_exit() {
            while kill -0 "$1" 2>/dev/null; do sleep 0.05; done
        }
        wait_for_line() {
            until grep -qs "$1" "$2"; do sleep 0.05; done
        }

        """

    /// The built program beside the test bundle.
    private static var program: URL {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("pairtool")
    }

    /// Runs a script in new namespaces, with `$PAIRTOOL` as the program and XDG directories that are removed after.
    static func run(_ script: String, daemon: Bool = true) async throws -> Run {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("pairtool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: home) }
        let support = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Support/netns-daemon.sh")
        let process = Process()
        process.executableURL = support
        process.arguments = (daemon ? [] : ["--no-daemon"]) + ["sh", "-c", functions + script]
        var environment = ProcessInfo.processInfo.environment
        environment["PAIRTOOL"] = program.path
        environment["SWIFT_BACKTRACE"] = "enable=no"
        for variable in ["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"] {
            environment[variable] = home.appendingPathComponent(variable).path
        }
        process.environment = environment
        let (output, errors) = (home.appendingPathComponent("out"), home.appendingPathComponent("err"))
        for file in [output, errors] { try Data().write(to: file) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Run(
            status: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self)
        )
    }
}
