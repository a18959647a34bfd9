package import CompanionApp
import CompanionWire
import FoundationEssentials
import Glibc
import History
import Identity
import LocalState

/// The content of `pairtool doctor --report`: versions, settings, verdicts and counts. It has no text of others and no
/// name, address or id, so nothing in it has to be removed before it is shown to somebody.
package struct DoctorReport: Encodable, Sendable {
    struct Versions: Encodable, Sendable {
        var pairtool: String
        /// Of the compiler.
        var swift: String
        /// Of `/etc/os-release`.
        var system: String
        var kernel: String
        var architecture: String
        /// The files of the system's libraries that are loaded; their names have their versions.
        var libraries: [String]
    }

    struct Settings: Encodable, Sendable {
        /// False if `config.toml` turns the history off, or has a fault.
        var keepsHistory: Bool
        var keepSeconds: Double?
        var maxBytes: Int?
        /// The kinds of notifications that are on.
        var notifications: [String]
        /// The number of faults in `config.toml`.
        var faults: Int
        /// The names of the environment variables that are set and that pairtool reads.
        var variables: [String]
    }

    /// A finding without its subject and evidence, which name things.
    struct Row: Encodable, Sendable {
        var check: CheckName
        var verdict: Verdict
        /// The advice with `{HOST}` and the like in the place of names: it tells faults of one check apart.
        var advice: String?
    }

    struct Counts: Encodable, Sendable {
        /// The paired hosts, by `family/trust`.
        var hosts: [String: Int]
        /// nil if there is no history, or if it cannot be read.
        var history: History?
    }

    struct History: Encodable, Sendable {
        var bytes: Int
        var hosts: Int
        var projects: Int
        var chats: Int
        var messages: Int
    }

    var at: Date
    var versions: Versions
    var settings: Settings
    var findings: [Row]
    var counts: Counts

    /// - Parameter version: The version of pairtool.
    /// - Throws: `CancellationError`.
    package static func collect(
        _ findings: [Finding],
        environment: AppEnvironment,
        version: String
    ) async throws -> DoctorReport {
        DoctorReport(
            at: environment.now(),
            versions: try await BlockingCall.run { versions(version) },
            settings: settings(environment),
            findings: findings.map { finding in
                Row(check: finding.check, verdict: finding.verdict, advice: finding.template?.rawValue)
            },
            counts: Counts(
                hosts: try await BlockingCall.run { hosts(environment) },
                history: await history(environment)
            )
        )
    }

    /// JSON in several lines, with a line end.
    package var text: String {
        get throws {
            let encoder = CompanionJSON.encoder(sorted: true)
            encoder.outputFormatting.insert(.prettyPrinted)
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        }
    }

    // MARK: Settings and counts

    private static func settings(_ environment: AppEnvironment) -> Settings {
        let choices = Choices.load(environment.paths)
        let read = ["NO_COLOR", "PAGER", "EDITOR", "VISUAL", "TMUX", "SSH_CONNECTION", "PAIRTOOL_HOST", "PAIRTOOL_LOG"]
        return Settings(
            keepsHistory: choices.history != nil,
            keepSeconds: choices.history?.age,
            maxBytes: choices.history?.size,
            notifications: NotificationKind.allCases.filter(choices.notifications.contains).map(\.rawValue),
            faults: choices.faults.count,
            variables: read.filter { environment.variables[$0]?.isEmpty == false }
        )
    }

    /// Blocks.
    private static func hosts(_ environment: AppEnvironment) -> [String: Int] {
        let hosts = (try? PairedHostStore(directory: environment.paths.data).load())?.hosts ?? []
        return hosts.reduce(into: [:]) { $0["\($1.family.rawValue)/\($1.trust.rawValue)", default: 0] += 1 }
    }

    private static func history(_ environment: AppEnvironment) async -> History? {
        let path = HistoryStore.path(state: environment.paths.state)
        guard FileStatus(path) != nil, let store = try? await HistoryStore.open(path: path) else { return nil }
        let status = try? await store.status()
        await store.close()
        guard let status else { return nil }
        return History(
            bytes: status.size,
            hosts: status.hosts,
            projects: status.projects,
            chats: status.chats,
            messages: status.messages
        )
    }

    // MARK: Versions

    /// Blocks.
    private static func versions(_ pairtool: String) -> Versions {
        var names = utsname()
        uname(&names)
        func text(_ field: UnsafeRawBufferPointer) -> String {
            String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
        }
        return Versions(
            pairtool: pairtool,
            swift: swiftVersion,
            system: system,
            kernel: withUnsafeBytes(of: names.release, text),
            architecture: withUnsafeBytes(of: names.machine, text),
            libraries: libraries
        )
    }

    private static var swiftVersion: String {
        #if compiler(>=6.4)
            "6.4 or later"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }

    private static var system: String {
        let lines = content(of: "/etc/os-release").parts("\n")
        let name = lines.lazy.compactMap { $0.dropping(prefix: "PRETTY_NAME=") }.first
        return name.map { TerminalText.line($0.parts("\"").joined()) } ?? "unknown"
    }

    private static var libraries: [String] {
        var found: Set<String> = []
        for line in content(of: "/proc/self/maps").parts("\n") {
            guard let place = line.utf8.firstIndex(of: UInt8(ascii: "/")) else { continue }
            let path = String(line[place...])
            // The directories of other libraries may name a user.
            guard path.begins(with: "/usr/lib/") || path.begins(with: "/lib/"), path.has(".so"),
                let name = path.parts("/").last
            else { continue }
            found.insert(String(name))
        }
        return found.sorted()
    }

    private static func content(of path: String) -> String {
        String(decoding: (try? PrivateFile.read(path, limit: 8 << 20)) ?? [], as: UTF8.self)
    }
}
