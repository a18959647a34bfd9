import CompanionWire

/// A branch, as git has it now.
struct GitBranch: Sendable, Hashable {
    /// The name of the commit that it leads to.
    var tip: String
    /// Whether a working tree has it checked out; false if that was not asked for.
    var isInUse: Bool

    /// Looks for a branch.
    ///
    /// - Parameters:
    ///   - name: Without `refs/heads/`.
    ///   - directory: The top directory of a working tree of its repository.
    ///   - moved: As for ``GitProgram``'s runs.
    ///   - findsUse: Whether the working trees are looked at, too. Git reads the `HEAD` of each for that.
    ///   - time: How long it may take. Default: ``GitRepository/time``.
    /// - Returns: nil if there is none.
    /// - Throws: ``GitError`` where git cannot tell, ``GitProgram/Failure``, `CancellationError`.
    static func find(
        _ name: String,
        in directory: String,
        of moved: GitDirectory? = nil,
        findsUse: Bool = false,
        within time: Duration = GitRepository.time
    ) async throws -> GitBranch? {
        let reference = "refs/heads/\(name)"
        let format = "%(objectname) %(refname)%00" + (findsUse ? "%(worktreepath)" : "")
        // It also lists references below one of this name.
        let listed = try await GitProgram.run(
            ["for-each-ref", "--format=" + format, reference],
            in: directory,
            of: moved,
            within: time
        )
        guard listed.isSuccess else { throw GitError(.unreadable, listed.error) }
        for line in listed.lines {
            guard let (tip, rest) = line.cut(at: " "), let (found, use) = rest.cut(at: "\0"),
                found.isSame(as: reference)
            else { continue }
            return GitBranch(tip: String(tip), isInUse: !use.isEmpty)
        }
        return nil
    }
}
