import CompanionWire
import NIOConcurrencyHelpers
import Subprocess

/// The settings of a repository that describe its format and shape. No other setting reaches the git that the host
/// runs.
///
/// The host reads the file, and git parses it from its standard input, without the files that it includes. There it is
/// mere text, and names no program that could run.
struct GitSettings: Sendable, Hashable {
    /// The hash that names objects: `sha1` or `sha256`.
    var format = "sha1"
    /// How references are stored: `files` or `reftable`.
    var references = "files"
    var isBare = false
    /// Whether objects may be missing that another repository has (a partial clone).
    var isPartial = false
    /// Whether only a part of the files is checked out.
    var isSparse = false
    /// Whether that part is made of directories.
    var isCone = true
    /// Whether each working tree has settings of its own.
    var hasOwnSettings = false

    /// Extensions of the format that need nothing of a git that only reads, or that are passed on.
    private static let extensions: Set<String> = [
        "noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig", "objectformat", "refstorage",
        "relativeworktrees", "compatobjectformat", "submodulepathconfig",
    ]
    /// The same bytes always mean the same.
    private static let known = NIOLockedValueBox<[[UInt8]: [Entry]]>([:])

    private struct Entry: Sendable {
        var name: String
        /// nil for a name without a value, which stands for true.
        var value: String?

        var isTrue: Bool {
            guard let value = value?.utf8.map({ $0 | 0x20 }) else { return true }
            return ["true", "yes", "on", "1"].contains { value.elementsEqual($0.utf8.map { $0 | 0x20 }) }
        }
    }

    init(format: String) {
        self.format = format
    }

    /// - Throws: ``GitError`` for a format that is not known, ``GitProgram/Failure``, `CancellationError`.
    init(of directory: GitDirectory) async throws {
        for entry in try await Self.entries(directory.common + "/config") { try apply(entry) }
        if hasOwnSettings {
            for entry in try await Self.entries(directory.own + "/config.worktree") { try apply(entry) }
        }
        if directory.isLinked { isBare = false }
    }

    private mutating func apply(_ entry: Entry) throws(GitError) {
        let value = entry.value ?? ""
        switch entry.name {
        case "core.repositoryformatversion":
            guard value.isSame(as: "0") || value.isSame(as: "1") else {
                throw GitError(.unreadable, "The repository has the format \(value), which pairtool does not know")
            }
        case "core.bare": isBare = entry.isTrue
        case "core.sparsecheckout": isSparse = entry.isTrue
        case "core.sparsecheckoutcone": isCone = entry.isTrue
        case "extensions.objectformat": format = value.isSame(as: "sha256") ? "sha256" : "sha1"
        case "extensions.refstorage": references = value.begins(with: "reftable") ? "reftable" : "files"
        case "extensions.worktreeconfig": hasOwnSettings = entry.isTrue
        case "extensions.partialclone": isPartial = true
        default:
            if entry.name.begins(with: "remote."), entry.name.ends(with: ".promisor") {
                isPartial = isPartial || entry.isTrue
            } else if let name = entry.name.dropping(prefix: "extensions."), !Self.extensions.contains(String(name)) {
                throw GitError(.unreadable, "The repository has the extension \(name), which pairtool does not know")
            }
        }
    }

    private static func entries(_ path: String) async throws -> [Entry] {
        guard let bytes = try await GitFile.reading({ try GitFile.read(path, limit: 1 << 20) }) else { return [] }
        if let entries = known.withLockedValue({ $0[bytes] }) { return entries }
        let result = try await GitProgram.run(
            ["config", "--file", "-", "--no-includes", "--null", "--list"],
            in: "/",
            environment: ["GIT_DIR": "/dev/null"],
            input: bytes,
            limit: 2 << 20,
            within: GitRepository.time
        )
        guard result.isSuccess, !result.isCut else {
            throw GitError(.unreadable, "\(path): \(result.isCut ? "it has too many settings" : result.error)")
        }
        let entries = result.output.split(separator: 0).map { field in
            let parts = field.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
            return Entry(
                name: String(decoding: parts[0], as: UTF8.self),
                value: parts.count == 2 ? String(decoding: parts[1], as: UTF8.self) : nil
            )
        }
        // Those of most repositories have some hundred bytes.
        guard bytes.count <= 64 << 10 else { return entries }
        known.withLockedValue { known in
            if known.count >= 64 { known = [:] }
            known[bytes] = entries
        }
        return entries
    }
}
