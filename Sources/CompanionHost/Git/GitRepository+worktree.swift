import CompanionWire
import Glibc
import LocalState

extension GitRepository {
    /// Whether neither a branch nor a directory of branches has the name.
    func hasRoom(forBranch branch: String) async throws -> Bool {
        let listed = try await GitProgram.run(
            ["for-each-ref", "--count=1", "--format=x", "refs/heads/\(branch)"],
            in: root,
            within: Self.time
        )
        guard listed.isSuccess else { throw GitError(.unreadable, listed.error) }
        return listed.output.isEmpty
    }

    /// Adds a working tree without files, on a new branch that begins at this commit.
    ///
    /// `git worktree add` would read the repository's configuration, and run what it names, in the working tree that it
    /// makes. The files that it writes are described in gitrepository-layout(5). A sparse one has the same shape.
    ///
    /// - Parameter path: Its top directory, which does not exist yet.
    /// - Throws: ``GitError``, ``GitProgram/Failure``, `CancellationError`. Nothing of it is left then.
    func addWorktree(at path: String, branch: String) async throws {
        guard let commit else { throw GitError(.unreadable, "the repository has no commit") }
        let settings = try await GitSettings(of: GitDirectory(root: root, own: own, common: common))
        guard settings.references.isSame(as: "files") else {
            throw GitError(.unreadable, "its references are in the format \(settings.references)")
        }
        do {
            let made = try await GitProgram.run(
                ["branch", "--quiet", "--no-track", "--", branch, commit],
                in: root,
                within: Self.time
            )
            guard made.isSuccess else { throw Refusal(text: made.error) }
            try await BlockingCall.run { try link(path, to: branch) }
        } catch let refusal as Refusal {
            // The branch is of somebody else, then.
            throw GitError(.unreadable, refusal.text)
        } catch {
            // A task of its own, because git does not run in a cancelled one. A branch that has moved on stays.
            _ = await Task {
                try? await GitProgram.run(
                    ["update-ref", "-d", "refs/heads/\(branch)", commit],
                    in: root,
                    within: Self.time
                )
            }.value
            throw error
        }
    }

    /// Why git made no branch.
    private struct Refusal: Error {
        var text: String
    }

    private func link(_ path: String, to branch: String) throws {
        guard mkdir(path, 0o777) == 0 else { throw Self.failure(path) }
        var entry: String?
        do {
            let made = try makeEntry(named: path.cut(atLast: "/").map { String($0.after) } ?? path)
            entry = made
            // `git worktree prune` leaves it alone until it is whole.
            try Self.write("initializing\n", to: made + "/locked")
            try Self.write("\(path)/.git\n", to: made + "/gitdir")
            try Self.write("../..\n", to: made + "/commondir")
            try Self.write("ref: refs/heads/\(branch)\n", to: made + "/HEAD")
            if isSparse { try copyShape(to: made) }
            try Self.write("gitdir: \(made)\n", to: path + "/.git")
            unlink(made + "/locked")
        } catch {
            unlink(path + "/.git")
            rmdir(path)
            if let entry { Self.remove(entry) }
            throw error
        }
    }

    /// Makes a directory for a working tree in the repository's, by a name that is free.
    private func makeEntry(named name: String) throws -> String {
        let parent = common + "/worktrees"
        guard mkdir(parent, 0o777) == 0 || errno == EEXIST else { throw Self.failure(parent) }
        guard FileStatus(parent, followingLinks: false)?.kind == .directory else {
            throw GitError(.unreadable, "\(parent) is not a directory")
        }
        for number in 0...99 {
            let entry = "\(parent)/\(name)" + (number == 0 ? "" : "\(number)")
            if mkdir(entry, 0o777) == 0 { return entry }
            guard errno == EEXIST else { throw Self.failure(entry) }
        }
        throw GitError(.tooMuch, "there are too many of this name in \(parent)")
    }

    private func copyShape(to entry: String) throws {
        guard let shape = try GitFile.read(own + "/info/sparse-checkout", limit: 16 << 20) else { return }
        try PrivateFile.makeDirectory(entry + "/info")
        try Self.write(shape, to: entry + "/info/sparse-checkout")
        // Git only reads it where the repository has `extensions.worktreeConfig`; elsewhere its own setting counts.
        try Self.write(
            Array("[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = \(isCone)\n".utf8),
            to: entry + "/config.worktree"
        )
    }

    private static func remove(_ entry: String) {
        for name in ["locked", "gitdir", "commondir", "HEAD", "config.worktree", "info/sparse-checkout"] {
            unlink("\(entry)/\(name)")
        }
        rmdir(entry + "/info")
        rmdir(entry)
    }

    private static func write(_ text: String, to path: String) throws {
        try write(Array(text.utf8), to: path)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        try bytes.withUnsafeBytes { try PrivateFile.write($0, to: path) }
    }

    private static func failure(_ path: String) -> GitError {
        GitError(.unreadable, "\(path): \(PrivateFile.systemMessage())")
    }
}
