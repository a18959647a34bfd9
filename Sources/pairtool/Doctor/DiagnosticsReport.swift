import CompanionClient
import CompanionWire
import Discovery
import Doctor
import FoundationEssentials
import Glibc
import History
import Identity
import LocalState

/// What `pairtool diagnostics` shows. Nothing in it names a person, a machine, a project or an address.
struct DiagnosticsReport: Encodable, Sendable {
    struct Versions: Encodable, Sendable {
        var pairtool = Version.text
        var swift: String
        /// Of `/etc/os-release`.
        var system: String
        var kernel: String
        var architecture: String
        /// The files of the loaded libraries, whose names have their versions.
        var libraries: [String]
    }

    struct Settings: Encodable, Sendable {
        /// False if `config.toml` turns the history off.
        var keepsHistory: Bool
        var keepSeconds: Double?
        var maxBytes: Int?
        /// The kinds of notifications that are on.
        var notifications: [String]
        /// How many faults `config.toml` has.
        var faults: Int
        /// Variables of the environment that pairtool reads: their values, or `set`.
        var environment: [String: String]
    }

    struct Host: Encodable, Sendable {
        /// Its placeholder.
        var host: String
        var family: String
        var trust: String
        var isDefault: Bool
    }

    /// How requests of the last hour went.
    struct Connection: Encodable, Sendable {
        var host: String
        var requests: Int
        /// Without an answer.
        var lost: Int
        /// Round trips of those that were answered; null without any.
        var medianMs: Int?
        /// 95 of 100 were as fast or faster.
        var p95Ms: Int?
        var maxMs: Int?
    }

    struct Failure: Encodable, Sendable {
        var at: Date
        var command: String
        var exitCode: Int32
        var code: String
    }

    struct Store: Encodable, Sendable {
        var bytes: Int
        var hosts: Int
        var projects: Int
        var chats: Int
        var messages: Int
    }

    var at: Date
    var versions: Versions
    var settings: Settings
    var hosts: [Host]
    var checks: [Finding]
    var connections: [Connection]
    /// nil if there is none, or if it cannot be read.
    var history: Store?
    /// The commands that failed in the last seven days: the last 50.
    var log: [Failure]
    /// The last lines that agents of this machine's host have written to its log, oldest first.
    var agentLog: [String]

    // MARK: Collecting

    static func collect(_ findings: [Finding], _ output: Output) async throws -> DiagnosticsReport {
        let context = output.context
        let now = context.now()
        let paired = (try? PairedHostStore(directory: context.paths.data).load()) ?? PairedHosts()
        let names = Dictionary(
            paired.hosts.enumerated().map { (ByteText($1.id), "host-\($0 + 1)") },
            uniquingKeysWith: { first, _ in first }
        )
        let (store, projects) = await stored(context)
        let redactor = Redactor(known(paired.hosts, projects: projects, context))
        let log = try await BlockingCall.run {
            ActivityLog(context).entries(since: now.addingTimeInterval(-7 * 86_400))
        }
        return DiagnosticsReport(
            at: now,
            versions: try await BlockingCall.run { versions() },
            settings: settings(context),
            hosts: paired.hosts.map { host in
                Host(
                    host: names[ByteText(host.id)] ?? "host",
                    family: host.family.rawValue,
                    trust: host.trust.rawValue,
                    isDefault: paired.defaultID.map(host.id.isSame) == true
                )
            },
            checks: findings.map { redacted($0, redactor) },
            connections: connections(log.filter { $0.at >= now.addingTimeInterval(-3600) }, names),
            history: store,
            log: failures(log),
            agentLog: try await BlockingCall.run { agentLog(context).map(redactor.text) }
        )
    }

    /// The last lines of the log of agents. Blocks.
    private static func agentLog(_ context: CommandContext) -> [String] {
        let bytes = try? PrivateFile.read("\(context.paths.state)/agent.log", limit: 64 << 20)
        let end = ((bytes ?? nil) ?? []).suffix(16 << 10)
        return String(decoding: end, as: UTF8.self).parts("\n").suffix(20).map { TerminalText.line(String($0)) }
    }

    /// What names somebody or something on this machine, and what stands for it.
    private static func known(
        _ hosts: [PairedHost],
        projects: [String],
        _ context: CommandContext
    ) -> [(text: String, placeholder: String)] {
        var known: [(text: String, placeholder: String)] = []
        for (index, host) in hosts.enumerated() {
            let placeholder = "host-\(index + 1)"
            let texts = [host.name, host.id, "\(host.endpoint)", "\(host.endpoint.address)", host.fallbackURL ?? ""]
            known += texts.map { ($0, placeholder) }
            known += [host.deviceID, host.deviceName ?? ""].map { ($0, "this-device") }
        }
        known += projects.enumerated().map { ($1, "project-\($0 + 1)") }
        known += NetworkInterface.all().enumerated().map { ($1.name, "interface-\($0 + 1)") }
        known += [
            (context.paths.data, "DATA"), (context.paths.state, "STATE"), (context.paths.config, "CONFIG"),
            (context.paths.runtime, "RUNTIME"), (context.environment["HOME"] ?? "", "HOME"),
            (context.environment["USER"] ?? "", "this-user"), (MachineName.current, "this-machine"),
        ]
        return known
    }

    private static func redacted(_ finding: Finding, _ redactor: Redactor) -> Finding {
        var finding = finding
        finding.subject = finding.subject.map(redactor.text)
        finding.evidence = redactor.text(finding.evidence)
        finding.advice = finding.advice.map(redactor.text)
        return finding
    }

    /// What the history has, and the names and folders of its projects.
    private static func stored(_ context: CommandContext) async -> (Store?, [String]) {
        let path = HistoryStore.path(state: context.paths.state)
        guard FileStatus(path) != nil, let store = try? await HistoryStore.open(path: path) else { return (nil, []) }
        var (row, texts) = (nil as Store?, [String]())
        if let status = try? await store.status() {
            row = Store(
                bytes: status.size,
                hosts: status.hosts,
                projects: status.projects,
                chats: status.chats,
                messages: status.messages
            )
        }
        for host in (try? await store.hosts()) ?? [] {
            let projects = (try? await store.projects(hostID: host.id))?.value ?? []
            texts += projects.flatMap { [$0.localPath, $0.name] }
        }
        await store.close()
        return (row, texts)
    }

    private static func settings(_ context: CommandContext) -> Settings {
        let choices = Choices.load(context.paths)
        var environment: [String: String] = [:]
        for name in ["NO_COLOR", "PAGER", "EDITOR", "VISUAL", "COLORFGBG", "TMUX", "SSH_CONNECTION", "PAIRTOOL_HOST"]
        where context.environment[name]?.isEmpty == false {
            environment[name] = "set"
        }
        let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
        environment["PAIRTOOL_LOG"] = context.environment["PAIRTOOL_LOG"].flatMap { level in
            levels.first { $0.isSame(as: level.lowercased()) } ?? "set"
        }
        for name in ["TERM", "LANG"] {
            environment[name] = context.environment[name].map { isSimple($0) ? $0 : "set" }
        }
        return Settings(
            keepsHistory: choices.history != nil,
            keepSeconds: choices.history?.age,
            maxBytes: choices.history?.size,
            notifications: NotificationKind.allCases.filter(choices.notifications.contains).map(\.rawValue),
            faults: choices.faults.count,
            environment: environment
        )
    }

    private static func connections(_ log: [ActivityLog.Entry], _ names: [ByteText: String]) -> [Connection] {
        var requests: [ByteText: (lost: Int, trips: [Int])] = [:]
        for entry in log {
            guard case .request(let id, let milliseconds, let kind) = entry.event else { continue }
            var host = requests[ByteText(id)] ?? (0, [])
            if kind == .lost { host.lost += 1 } else { host.trips.append(milliseconds) }
            requests[ByteText(id)] = host
        }
        // Hosts that are not paired any more have no name.
        return requests.compactMap { id, host in
            names[id].map { name in
                let trips = host.trips.sorted()
                return Connection(
                    host: name,
                    requests: host.lost + trips.count,
                    lost: host.lost,
                    medianMs: trips.isEmpty ? nil : trips[trips.count / 2],
                    p95Ms: trips.isEmpty ? nil : trips[min(trips.count - 1, trips.count * 95 / 100)],
                    maxMs: trips.last
                )
            }
        }.sorted { ($0.host.utf8.count, $0.host) < ($1.host.utf8.count, $1.host) }
    }

    private static func failures(_ log: [ActivityLog.Entry]) -> [Failure] {
        log.compactMap { entry in
            guard case .failure(let command, let status, let code) = entry.event, isSimple(command), isSimple(code)
            else { return nil }
            return Failure(at: entry.at, command: command, exitCode: status, code: code)
        }.suffix(50)
    }

    private static func isSimple(_ text: String) -> Bool {
        text.utf8.count <= 32
            && text.utf8.allSatisfy { byte in
                (97...122).contains(byte | 0x20) || (48...57).contains(byte) || "-._".utf8.contains(byte)
            }
    }

    // MARK: Versions

    /// Blocks.
    private static func versions() -> Versions {
        var names = utsname()
        uname(&names)
        func text(_ field: UnsafeRawBufferPointer) -> String {
            String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
        }
        return Versions(
            swift: swiftVersion,
            system: system,
            kernel: withUnsafeBytes(of: names.release, text),
            architecture: withUnsafeBytes(of: names.machine, text),
            libraries: libraries
        )
    }

    /// Of the compiler.
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
            // Of the system alone: where others are says who built them.
            guard path.begins(with: "/usr/lib/") || path.begins(with: "/lib/"), path.has(".so"),
                let name = path.parts("/").last
            else { continue }
            found.insert(String(name))
        }
        return found.sorted()
    }

    private static func content(of path: String) -> String {
        let bytes = try? InputFile.read(path, limit: 8 << 20)
        return String(decoding: (bytes ?? nil) ?? [], as: UTF8.self)
    }

    // MARK: For people

    private var keptText: String {
        if settings.keepsHistory { return "kept" }
        return settings.faults == 0 ? "off" : "not kept until config.toml is mended"
    }

    private var faultsText: String {
        switch settings.faults {
        case 0: "no faults"
        case 1: "1 fault"
        default: "\(settings.faults) faults"
        }
    }

    var text: String {
        var text = """
            pairtool \(versions.pairtool), \(CompanionTimestamp.string(from: at))
            Swift \(versions.swift), \(versions.system), Linux \(versions.kernel), \(versions.architecture)

            Settings
              history        \(keptText)\(limits)
              notifications  \(settings.notifications.isEmpty ? "off" : settings.notifications.joined(separator: ", "))
              config.toml    \(faultsText)

            """
        for (name, value) in settings.environment.sorted(by: { $0.key < $1.key }) { text += "  \(name)=\(value)\n" }
        text += section("Paired hosts", hosts) { host in
            "\(host.host): \(host.family), \(host.trust)\(host.isDefault ? ", default" : "")"
        }
        text += "\nFindings of pairtool doctor\n"
        for finding in checks { text += finding.text(colour: false, columns: nil) }
        text += section("Requests in the last hour", connections) { host in
            let trips = host.medianMs.map {
                "median \($0) ms, 95 % within \(host.p95Ms ?? 0) ms, at most \(host.maxMs ?? 0) ms"
            }
            return "\(host.host): \(host.requests), \(host.lost) lost" + (trips.map { "; \($0)" } ?? "")
        }
        if let history {
            text += "\nHistory\n  \(history.bytes) bytes, \(history.hosts) hosts, \(history.projects) projects, "
            text += "\(history.chats) chats, \(history.messages) messages\n"
        }
        text += section("Commands that failed in the last seven days", log) { entry in
            "\(CompanionTimestamp.string(from: entry.at))  \(entry.command): exit code \(entry.exitCode), \(entry.code)"
        }
        text += section("Last lines of the agent log", agentLog) { $0 }
        text += section("Libraries", versions.libraries) { $0 }
        return text
    }

    private var limits: String {
        guard let size = settings.maxBytes else { return "" }
        return (settings.keepSeconds.map { " for \(TimeText.span($0))" } ?? "") + ", at most \(size) bytes"
    }

    private func section<Row>(_ title: String, _ rows: [Row], _ line: (Row) -> String) -> String {
        "\n\(title)\n" + (rows.isEmpty ? "  none\n" : rows.map { "  \(line($0))\n" }.joined())
    }
}
