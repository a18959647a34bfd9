import CompanionWire
import LocalState

/// A repository's working tree, and where git keeps what belongs to it.
struct GitRepository: Sendable, Hashable {
    /// The top directory of the working tree: absolute, symbolic links resolved.
    var root: String
    /// The directory that all working trees of the repository share.
    var common: String
    var objects: String
    /// `sha1` or `sha256`.
    var format: String
    /// What `HEAD` is; nil in a repository without commits.
    var commit: String?
    /// Its branch; nil for a detached `HEAD`.
    var branch: String?

    /// Digits of an object's name.
    var digits: Int { format.isSame(as: "sha256") ? 64 : 40 }

    static let time = Duration.seconds(5)

    /// The top directory of the repository that a directory is in.
    ///
    /// - Parameter project: Nothing above it is looked at.
    static func root(around directory: String, inside project: String) -> String? {
        var rest = directory[...]
        while rest.isSame(as: project) || rest.begins(with: project + "/") {
            switch FileStatus("\(rest)/.git", followingLinks: false)?.kind {
            case .directory?, .file?: return String(rest)
            default: break
            }
            guard let above = rest.cut(atLast: "/")?.before, !above.isEmpty else { return nil }
            rest = above
        }
        return nil
    }

    /// - Parameter root: A directory with a `.git` in it.
    /// - Throws: ``GitError``, ``GitProgram/Failure``, `CancellationError`.
    static func open(_ root: String) async throws -> GitRepository {
        let questions = [
            "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--git-path", "objects",
            "--show-object-format",
        ]
        var result = try await GitProgram.run(
            questions + ["HEAD", "--symbolic-full-name", "HEAD"],
            in: root,
            within: time
        )
        var head: (commit: String, name: String)?
        if result.isSuccess, result.lines.count == 6 {
            head = (String(result.lines[4]), String(result.lines[5]))
        } else {
            result = try await GitProgram.run(questions, in: root, within: time)
        }
        let lines = result.lines.map(String.init)
        guard result.isSuccess, lines.count >= 4, lines[0].isSame(as: root) else {
            let reason = result.error.isEmpty ? "" : ": \(result.error)"
            throw GitError(.unreadable, "Git cannot read the repository" + reason)
        }
        var repository = GitRepository(root: root, common: lines[1], objects: lines[2], format: lines[3])
        if let head {
            repository.commit = head.commit
            repository.branch = head.name.dropping(prefix: "refs/heads/").map(String.init)
        } else {
            let branch = try await GitProgram.run(["symbolic-ref", "-q", "HEAD"], in: root, within: time)
            repository.branch = branch.lines.first?.dropping(prefix: "refs/heads/").map(String.init)
        }
        return repository
    }
}

/// Why git gave no answer.
struct GitError: Error, Sendable {
    enum Code: Sendable { case unreadable, tooMuch, changing }
    var code: Code
    /// What happened, for people.
    var message: String

    init(_ code: Code, _ message: String) {
        (self.code, self.message) = (code, message)
    }

    /// What an error means for people; nil for one that is not about git.
    static func text(of error: any Error) -> String? {
        switch error {
        case let error as GitError: error.message
        case let error as GitProgram.Failure where error.reason == .notInstalled:
            "Git is not installed on the host"
        case is GitProgram.Failure: "Git took too long"
        default: nil
        }
    }
}
