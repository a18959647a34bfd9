import CompanionWire
import Crypto
import FoundationEssentials
import Glibc
import LocalState
import NIOConcurrencyHelpers

/// Git LFS: a commit has a pointer to a file's content, and the working tree has the content once it was pulled. Git
/// tells them apart with a filter, which is a program that the repository names. The host runs none, and compares the
/// content with the pointer itself.
struct LFSFiles: Sendable {
    let snapshots: GitSnapshots
    let repository: GitRepository

    /// The changed files whose content matches the pointer in the commit.
    ///
    /// - Parameter listed: By ``GitSnapshots/listFiles(_:)``.
    func pulledFiles(listed: [UInt8]) async throws -> Set<GitPath> {
        let lines = listed.split(separator: 0).filter { $0.count > 2 }
        func paths(_ tag: Unicode.Scalar) -> Set<GitPath> {
            Set(lines.filter { $0.first == UInt8(ascii: tag) }.map { GitPath($0.dropFirst(2)) })
        }
        // Git reads names line by line.
        let changed = paths("C").subtracting(paths("R")).filter { !$0.bytes.contains(UInt8(ascii: "\n")) }
        guard !changed.isEmpty else { return [] }
        var pointers = try await pointers(of: Array(changed))
        guard !pointers.isEmpty else { return [] }
        let known = try await kept(of: Array(pointers.keys))
        pointers = pointers.filter { known.contains($0.key) }
        let end = ContinuousClock.now + snapshots.limits.time
        return try await BlockingCall.run { [contents = snapshots.contents, repository, pointers] in
            let root = open(repository.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard root >= 0 else { throw GitError(.unreadable, "\(repository.root) cannot be opened") }
            defer { close(root) }
            // What there is no time for counts as changed now; a later look knows the others already.
            let pulled = pointers.filter { contents.isContent(of: $0.value, at: $0.key, in: root, until: end) }
            return Set(pulled.keys)
        }
    }

    /// The files that Git LFS has by the `.gitattributes` of the commit at which the session began. An agent could
    /// commit a pointer in place of any file, and an attribute for it, and would hide the file's content.
    private func kept(of paths: [GitPath]) async throws -> Set<GitPath> {
        guard let commit = repository.firstCommit else { return [] }
        let index = "\(snapshots.directory)/tmp/\(UUID().uuidString)"
        try await BlockingCall.run { [directory = snapshots.directory] in
            try PrivateFile.makeDirectory(directory + "/tmp")
        }
        defer { unlink(index) }
        // The commit may be gone by now.
        guard try await snapshots.git(["read-tree", commit], of: repository, index: index).isSuccess else { return [] }
        let asked = try await snapshots.git(
            ["check-attr", "--cached", "-z", "--stdin", "filter"],
            of: repository,
            index: index,
            input: Array(paths.map { $0.bytes + [0] }.joined()),
            limit: 32 << 20
        )
        guard asked.isSuccess, !asked.isCut else {
            throw GitError(.unreadable, "Git cannot read the attributes of files: \(asked.error)")
        }
        // For each file its path, `filter`, and the value.
        let fields = asked.output.split(separator: 0, omittingEmptySubsequences: false)
        var found: Set<GitPath> = []
        for start in stride(from: 0, to: fields.count - 2, by: 3) where fields[start + 2].elementsEqual("lfs".utf8) {
            found.insert(GitPath(fields[start]))
        }
        return found
    }

    private func pointers(
        of paths: [GitPath]
    ) async throws -> [GitPath: LFSPointer] {
        func ask(_ option: String, names: [[UInt8]], limit: Int) async throws -> [UInt8] {
            let result = try await snapshots.git(
                ["cat-file", option],
                of: repository,
                index: snapshots.home(of: repository) + "/index",
                input: Array(names.map { $0 + [UInt8(ascii: "\n")] }.joined()),
                limit: limit
            )
            guard result.isSuccess, !result.isCut else {
                throw GitError(.unreadable, "Git cannot read the commit's files: \(result.error)")
            }
            return result.output
        }
        // `:0:` stands for the entry of the index.
        func name(_ path: GitPath) -> [UInt8] { Array(":0:".utf8) + path.bytes }
        let sizes = try await ask("--batch-check=%(objecttype) %(objectsize)", names: paths.map(name), limit: 32 << 20)
        let answers = sizes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        guard answers.count == paths.count else { return [:] }
        let small = zip(paths, answers).filter { _, answer in
            let words = String(decoding: answer, as: UTF8.self).parts(" ")
            guard words.count == 2, words[0].isSame(as: "blob"), let size = Int(words[1]) else { return false }
            return LFSPointer.sizes.contains(size)
        }.map { $0.0 }
        guard !small.isEmpty else { return [:] }
        var rest = try await ask("--batch=%(objectsize)", names: small.map(name), limit: 64 << 20)[...]
        var pointers: [GitPath: LFSPointer] = [:]
        for path in small {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")),
                let size = Int(String(decoding: rest[..<end], as: UTF8.self)), rest.count > size
            else { break }
            let content = rest[(end + 1)...].prefix(size)
            if let pointer = LFSPointer(content) { pointers[path] = pointer }
            rest = rest[(end + 1)...].dropFirst(size + 1)
        }
        return pointers
    }
}

/// The content of a file that Git LFS keeps, as its specification has it (git-lfs, docs/spec.md).
struct LFSPointer: Sendable, Hashable {
    /// SHA-256, in hexadecimal digits.
    let hash: String
    let size: Int

    /// Bytes of a pointer.
    static let sizes = 100...1024

    init?(_ content: some Collection<UInt8>) {
        let lines = String(decoding: content, as: UTF8.self).parts("\n")
        guard lines.first?.isSame(as: "version https://git-lfs.github.com/spec/v1") == true,
            let hash = lines.compactMap({ $0.dropping(prefix: "oid sha256:") }).first, hash.utf8.count == 64,
            let size = lines.compactMap({ $0.dropping(prefix: "size ") }).first.flatMap({ Int($0) })
        else { return nil }
        (self.hash, self.size) = (String(hash), size)
    }
}

/// The hashes of large files. A file is read once, until its status changes.
final class LFSContents: Sendable {
    private let hashes = NIOLockedValueBox<[FileStatus: String]>([:])

    /// Whether a file is there and has a content. Blocks.
    ///
    /// - Parameters:
    ///   - root: The open directory that the path begins at.
    ///   - end: When to give up.
    func isContent(
        of pointer: LFSPointer,
        at path: GitPath,
        in root: Int32,
        until end: ContinuousClock.Instant
    ) -> Bool {
        let name = path.bytes.map { CChar(bitPattern: $0) } + [0]
        let file = openat(root, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return false }
        defer { close(file) }
        guard let status = FileStatus(descriptor: file), status.kind == .file, status.size == pointer.size else {
            return false
        }
        if let known = hashes.withLockedValue({ $0[status] }) { return known.isSame(as: pointer.hash) }
        guard let hash = Self.hash(of: file, until: end), FileStatus(descriptor: file) == status else { return false }
        // Within the same moment it could be changed once more, without a sign of it.
        guard status.statusChangedAt < Date(timeIntervalSinceNow: -2) else { return hash.isSame(as: pointer.hash) }
        hashes.withLockedValue { hashes in
            if hashes.count >= 10_000 { hashes = [:] }
            hashes[status] = hash
        }
        return hash.isSame(as: pointer.hash)
    }

    /// - Returns: nil for a file that cannot be read, or not in time.
    private static func hash(of file: Int32, until end: ContinuousClock.Instant) -> String? {
        var hasher = SHA256()
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while .now < end {
            let count = read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { return hasher.finalize().hexText }
            chunk.withUnsafeBytes { hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        return nil
    }
}
