import CompanionClient
import CompanionWire
import PairingAgent

/// A paired Jarvis daemon, a client that speaks to it, and where the command writes.
struct JarvisSession: Sendable {
    let host: PairedHost
    let client: JarvisClient
    let output: Output
}

extension HostOptions {
    /// Runs a body with the Jarvis daemon that the options, the environment or the default name; without any of these, with
    /// the only one that is paired.
    func withJarvis<R>(_ options: OutputOptions, _ body: (JarvisSession) async throws -> R) async throws -> R {
        let output = options.output
        let store = PairedHostStore(directory: output.context.paths.data)
        let selected = try JarvisHostSelection.select(
            host ?? output.context.environment["PAIRTOOL_HOST"],
            in: try store.load()
        )
        try require?.check(selected)
        return try await JarvisSessions.withClient(selected, output: output) { client in
            try await body(JarvisSession(host: selected, client: client, output: output))
        }
    }
}

enum JarvisHostSelection {
    /// - Parameter word: A name or id prefix; nil or empty means the default host, or the only Jarvis daemon.
    static func select(_ word: String?, in hosts: PairedHosts) throws -> PairedHost {
        let daemons = hosts.hosts.filter { $0.family == .jarvis }
        if word ?? "" == "" {
            if let usual = hosts.defaultHost, usual.family == .jarvis { return usual }
            if let only = daemons.first, daemons.count == 1 { return only }
            guard !daemons.isEmpty else {
                throw CommandError(
                    .notPaired,
                    "host.none_paired",
                    "no Jarvis daemon is recorded yet",
                    next: "pairtool pair --family jarvis --url http://127.0.0.1:9000"
                )
            }
            throw CommandError(
                .usage,
                "host.ambiguous",
                "several Jarvis daemons are recorded: "
                    + daemons.map { "\($0.name) (\($0.id.prefix(8)))" }.joined(separator: ", "),
                next: "name one with --host"
            )
        }
        let host = try PairedHostSelection.select(word, in: hosts)
        guard host.family == .jarvis else {
            throw CommandError(
                .failed,
                "host.cannot",
                "\(host.name) is a \(host.family.displayName) host: approvals are what Jarvis daemons have",
                next: "pairtool capabilities \(host.id.prefix(8))"
            )
        }
        return host
    }
}
