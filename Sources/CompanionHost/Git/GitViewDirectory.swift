import CompanionWire
import FoundationEssentials
import Glibc
import LocalState

/// The temporary directories that git is shown (``GitView``). Their names say which process made them, so that those of
/// a host that was killed can be told from those in use.
enum GitViewDirectory {
    private static let prefix = "pairtool-git-"
    /// Directories of processes that this one cannot see are removed when they are as old as this: a git of a host's
    /// runs for two minutes at most.
    private static let oldAge: Double = 86_400

    /// The process that made a directory. Numbers of processes are used again, and those of a container are its own
    /// (pid_namespaces(7)).
    struct Maker: Sendable, Hashable {
        var process: pid_t
        /// As ``ProcessTable/Entry/startedAt``; 0 if it is not known.
        var startedAt: UInt64
        /// The number of its PID namespace; 0 if it is not known.
        var namespace: UInt64

        static let own = Maker(
            process: getpid(),
            startedAt: ProcessTable.entry(getpid())?.startedAt ?? 0,
            namespace: ownNamespace() ?? 0
        )

        init(process: pid_t, startedAt: UInt64, namespace: UInt64) {
            (self.process, self.startedAt, self.namespace) = (process, startedAt, namespace)
        }

        /// Parses the name of a directory that begins with a ``start``; nil for other names.
        init?(name: String) {
            guard let parts = name.dropping(prefix: GitViewDirectory.prefix)?.parts("-"), parts.count == 4,
                let process = pid_t(parts[0]), process > 0, let startedAt = UInt64(parts[1]),
                let namespace = UInt64(parts[2])
            else { return nil }
            self.init(process: process, startedAt: startedAt, namespace: namespace)
        }

        /// The beginning of its directories' names.
        var start: String { "\(GitViewDirectory.prefix)\(process)-\(startedAt)-\(namespace)-" }

        /// Whether it has ended for certain. Blocks.
        var isGone: Bool {
            guard namespace == Self.own.namespace else { return false }
            // Also where `/proc` hides processes, as pairtool's own.
            if kill(process, 0) != 0, errno == ESRCH { return true }
            guard startedAt > 0, let entry = ProcessTable.entry(process) else { return false }
            return entry.startedAt != startedAt || entry.isZombie
        }

        /// The number in `pid:[4026531836]`, the target of `/proc/self/ns/pid`.
        private static func ownNamespace() -> UInt64? {
            var target = [CChar](repeating: 0, count: 64)
            let count = readlink("/proc/self/ns/pid", &target, target.count)
            guard count > 0 else { return nil }
            let digits = target[..<count].map { UInt8(bitPattern: $0) }.filter {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
            return UInt64(String(decoding: digits, as: UTF8.self))
        }
    }

    /// The directory for temporary files of this process.
    static var parent: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    /// Makes one, for this user alone. Blocks.
    ///
    /// - Throws: ``GitError`` with the code `unreadable`.
    static func make() throws(GitError) -> String {
        let parent = parent
        var template = Array("\(parent)/\(Maker.own.start)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw GitError(.unreadable, "No directory can be made in \(parent): \(PrivateFile.systemMessage())")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes this user's directories whose host has ended, unless a git that it started still uses them.
    ///
    /// - Parameters:
    ///   - parent: The directory that they are in.
    ///   - limit: How long to wait for that; it goes on behind that. The system may never tell the environment of a
    ///     process that waits for a disk.
    ///   - environment: Tells the environment of a process. Default: as the system does.
    static func removeLeft(
        in parent: String,
        within limit: Duration,
        environment: @escaping @Sendable (pid_t) -> [UInt8] = ProcessTable.environment(of:)
    ) async {
        _ = try? await abandoning(after: limit) {
            try await BlockingCall.run { removeLeft(in: parent, environment: environment) }
        }
    }

    /// Blocks.
    private static func removeLeft(in parent: String, environment: (pid_t) -> [UInt8]) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        let left = names.filter { isLeft($0, in: parent) }
        guard !left.isEmpty else { return }
        var used: Set<String> = []
        for process in ProcessTable.now().entries {
            for variable in environment(process.id).split(separator: 0) {
                let text = String(decoding: variable, as: UTF8.self)
                guard let path = text.dropping(prefix: "GIT_COMMON_DIR=") else { continue }
                used.insert(path.cut(atLast: "/").map { String($0.after) } ?? String(path))
            }
        }
        for name in left where !used.contains(name) {
            // The links in it are removed, not what they lead to.
            try? FileManager.default.removeItem(atPath: "\(parent)/\(name)")
        }
    }

    private static func isLeft(_ name: String, in parent: String) -> Bool {
        guard let maker = Maker(name: name),
            let status = FileStatus("\(parent)/\(name)", followingLinks: false), status.kind == .directory,
            status.owner == geteuid()
        else { return false }
        if maker.namespace != Maker.own.namespace {
            return Date().timeIntervalSince(status.statusChangedAt) > oldAge
        }
        return maker.isGone
    }
}
