import CompanionWire
import LocalState

/// The latest commits of a project that is a repository, by `git log`.
///
/// It runs nothing that the repository names (``GitProgram``), and does not look above the project's directory. That
/// may be a linked working tree, whose repository is elsewhere.
struct GitLog {
    static let timeout = Duration.seconds(10)
    private static let outputLimit = 256 << 10

    let directory: String
    /// Whether the answer is for people: see ``AnswerLines``.
    let isMarkdown: Bool

    func answer(count: Int, emit: @escaping @Sendable (TurnEvent) -> Void) async throws {
        let tool = BuiltinAgent.Tool.gitLog.rawValue
        emit(.toolStart(name: tool, id: "call-1"))
        func refuse(_ text: String) {
            emit(.toolComplete(name: tool, id: "call-1", success: false, details: text))
            emit(.text(text + "\n"))
        }
        guard FileStatus(directory + "/.git", followingLinks: false) != nil else {
            refuse("This project's directory is not a git repository.")
            return
        }
        if let reason = Self.reasonToRefuse(directory) {
            refuse("This repository is not read: \(reason).")
            return
        }
        let result: GitProgram.Result
        do {
            result = try await run(count: count)
        } catch let failure as GitProgram.Failure where failure.reason == .tooSlow {
            refuse("Git took too long.")
            return
        } catch let error as CancellationError {
            throw error
        } catch {
            refuse("Git could not be run on this machine.")
            return
        }
        guard result.isSuccess || result.isCut else {
            refuse("Git cannot read this repository: \(result.error)")
            return
        }
        var lines = AnswerLines(isMarkdown: isMarkdown)
        let text = result.lines.map { lines.code(String($0)) }.joined()
        emit(.text(text + lines.endOfCode()))
        emit(.toolComplete(name: tool, id: "call-1", success: true, details: "\(result.lines.count) commits"))
    }

    /// Returns a message about a part of a repository that would make git read outside of it; nil if there is none. A
    /// linked working tree is a part of its repository, which names it.
    ///
    /// Files may be links inside the repository (`HEAD` once was one). Directories may not: what is below them would
    /// have to be looked at as well.
    private static func reasonToRefuse(_ directory: String) -> String? {
        let git: GitDirectory
        do throws(GitError) {
            git = try GitDirectory(of: directory)
        } catch {
            return error.message
        }
        guard let own = git.own.dropping(prefix: git.isLinked ? git.common + "/" : directory + "/") else {
            return "`.git` leads out of it"
        }
        guard let files = try? ProjectFiles(path: git.common) else { return "`.git` cannot be looked through" }
        // gitrepository-layout(5): it names other directories to read from.
        if files.exists(["objects", "info", "alternates"]) { return "`.git/objects/info/alternates` leads out of it" }
        var paths = [[], ["objects"], ["objects", "info"], ["objects", "pack"], ["refs"]]
        if git.isLinked { paths.append(own.parts("/").map(String.init)) }
        for path in paths {
            guard path.isEmpty || files.exists(path) else { continue }
            guard let listing = try? files.listing(of: path), listing.isComplete else {
                return "`\(([".git"] + path).joined(separator: "/"))` cannot be looked through"
            }
            for entry in listing.entries where entry.kind == .link {
                let link = (path + [entry.name]).joined(separator: "/")
                guard isFile("\(git.common)/\(link)", inside: git.common) else {
                    return "the symbolic link `.git/\(link)` leads out of it, or to a directory"
                }
            }
        }
        return nil
    }

    private static func isFile(_ path: String, inside directory: String) -> Bool {
        guard let path = RealPath.of(path) else { return false }
        return FileStatus(path)?.kind == .file && RealPath.isInside(path, of: directory)
    }

    private func run(count: Int) async throws -> GitProgram.Result {
        try await GitProgram.run(
            [
                "log", "--no-color", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-decorate",
                "--max-count=\(count)", "--date=short", "--format=%h  %ad  %an  %s",
            ],
            in: directory,
            limit: Self.outputLimit,
            within: Self.timeout
        )
    }
}
