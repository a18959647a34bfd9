import CompanionWire
import FoundationEssentials
import Subprocess
import SystemPackage

@testable import CompanionHost

/// A real repository for a test, and where the host keeps what it remembers of it.
struct TestRepository: Sendable {
    let root: String
    let state: String
    let snapshots: GitSnapshots

    init(root: String, state: String, limits: GitSnapshots.Limits = GitSnapshots.Limits()) {
        (self.root, self.state) = (root, state)
        snapshots = GitSnapshots(directory: state, limits: limits)
    }

    /// Runs a body with a repository that a script has filled.
    static func with<R>(
        _ script: String = "echo one >a; git add a; git commit -qm one",
        limits: GitSnapshots.Limits = GitSnapshots.Limits(),
        _ body: (TestRepository) async throws -> R
    ) async throws -> R {
        try await withTemporaryDirectory { directory in
            let repository = TestRepository(
                root: directory + "/project",
                state: directory + "/state/changes",
                limits: limits
            )
            try await repository.make(script)
            return try await GitRepository.$time.withValue(gitTime) { try await body(repository) }
        }
    }

    func make(_ script: String) async throws {
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        try await shell("git init -q -b main .; " + script)
    }

    /// Runs a script in the repository.
    @discardableResult
    func shell(_ script: String) async throws -> String {
        let result = try await Subprocess.run(
            .path("/bin/sh"),
            arguments: ["-ec", script],
            environment: .inherit.updating([
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ada",
                "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada",
                "GIT_COMMITTER_EMAIL": "ada@example.org",
            ]),
            workingDirectory: FilePath(root),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 16)
        )
        guard result.terminationStatus.isSuccess else { throw TestFailure("\(script): \(result.standardError)") }
        return result.standardOutput
    }

    /// What a script changes.
    ///
    /// - Parameter folder: The only one that is looked at.
    func changes(
        by script: String,
        in folder: String = ""
    ) async throws -> (files: [ChangedFile], difference: String, count: Int, isCut: Bool) {
        let base = try await snapshots.take(try await GitRepository.open(root, folder: folder), isKept: true)
        try await shell(script)
        let now = try await snapshots.take(try await GitRepository.open(root, folder: folder), isKept: false)
        let changes = try await snapshots.changes(from: base.tree, to: now)
        let difference = try await snapshots.difference(from: base.tree, to: now, of: nil)
        let count = try await snapshots.count(from: base, to: now)
        await now.remove()
        return (changes.map(\.file), difference.text, count, difference.isCut)
    }
}

extension ChangedFile {
    /// `modified a +1 -0`
    var summary: String {
        var words = [status.rawValue] + (oldPath.map { [$0, "->"] } ?? []) + [path]
        if let added, let removed { words.append("+\(added) -\(removed)") }
        if isBinary { words.append("binary") }
        if isUntracked { words.append("untracked") }
        if isSubmodule == true { words.append("repository") }
        if let leftOut { words.append("left out \(leftOut)") }
        return words.joined(separator: " ")
    }
}
