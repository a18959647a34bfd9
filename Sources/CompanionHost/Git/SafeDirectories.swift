import CompanionWire
import Subprocess

/// The repositories of other users that the owner of the host has git trust (`safe.directory` of git-config(1)).
enum SafeDirectories {
    /// - Throws: ``GitError`` for one that is not among them, ``GitProgram/Failure``, `CancellationError`.
    static func check(_ root: String) async throws {
        guard try await !contains(root) else { return }
        throw GitError(
            .unreadable,
            "\(root) belongs to another user. To trust it, run this as the host's user: "
                + "git config --global --add safe.directory \(GitPath(root.utf8).shellWord)"
        )
    }

    /// - Parameter home: The owner's home directory. Default: that of the environment.
    static func contains(_ root: String, home: String? = nil) async throws -> Bool {
        var environment: [Environment.Key: String] = ["GIT_DIR": "/dev/null"]
        environment["HOME"] = home
        let result = try await GitProgram.run(
            ["config", "--null", "--type=path", "--get-all", "safe.directory"],
            in: "/",
            environment: environment,
            readsOwnersSettings: true,
            within: GitRepository.time
        )
        guard result.isSuccess else { return false }
        var isSafe = false
        for entry in result.output.split(separator: 0, omittingEmptySubsequences: false).dropLast() {
            let entry = String(decoding: entry, as: UTF8.self)
            if entry.isEmpty { isSafe = false }
            let above = entry.dropping(suffix: "/*").map { String($0) + "/" }
            let isMeant = entry.isSame(as: "*") || entry.isSame(as: root) || above.map(root.begins(with:)) == true
            if isMeant { isSafe = true }
        }
        return isSafe
    }
}
