import CompanionWire
import Glibc
import LocalState

/// The latest commits of a project that is a repository, by `git log`.
///
/// It runs nothing that the repository names (``GitProgram``), and does not look above the project's directory.
struct GitLog {
    static let timeout = Duration.seconds(10)
    private static let outputLimit = 256 << 10

    let directory: String
    /// Whether the answer is for people: see ``AnswerLines``.
    let isMarkdown: Bool

    func answer(count: Int, emit: @escaping @Sendable (AgentEvent) -> Void) async throws {
        let tool = BuiltinAgent.Tool.gitLog.rawValue
        emit(.toolStart(name: tool, id: "call-1"))
        func refuse(_ text: String) {
            emit(.toolComplete(name: tool, id: "call-1", success: false, details: text))
            emit(.text(text + "\n"))
        }
        guard let files = try? ProjectFiles(path: directory), files.hasDirectory(".git") else {
            refuse("This project's directory is not a git repository.")
            return
        }
        if let reason = Self.reasonToRefuse(files, directory: directory) {
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
            refuse("Git cannot read this repository: it has no commits, or belongs to another user.")
            return
        }
        var lines = AnswerLines(isMarkdown: isMarkdown)
        let text = result.lines.map { lines.code(String($0)) }.joined()
        emit(.text(text + lines.endOfCode()))
        emit(.toolComplete(name: tool, id: "call-1", success: true, details: "\(result.lines.count) commits"))
    }

    /// What in a repository would make git read outside of the project; nil when there is nothing.
    ///
    /// Files may be links inside the project (`HEAD` once was one). Directories may not: what is below them would
    /// have to be looked at as well.
    private static func reasonToRefuse(_ files: ProjectFiles, directory: String) -> String? {
        // gitrepository-layout(5): both name other directories to read from.
        for path in ["commondir", "objects/info/alternates"] {
            let names = [".git"] + path.parts("/").map(String.init)
            if files.exists(names) { return "`.git/\(path)` leads out of it" }
        }
        for names in [[], ["objects"], ["objects", "info"], ["objects", "pack"], ["refs"]] {
            let path = [".git"] + names
            guard names.isEmpty || files.exists(path) else { continue }
            guard let listing = try? files.listing(of: path), listing.isComplete else {
                return "`\(path.joined(separator: "/"))` cannot be looked through"
            }
            for entry in listing.entries where entry.kind == .link {
                let link = (path + [entry.name]).joined(separator: "/")
                guard isFile("\(directory)/\(link)", inside: directory) else {
                    return "the symbolic link `\(link)` leads out of it, or to a directory"
                }
            }
        }
        return nil
    }

    private static func isFile(_ path: String, inside directory: String) -> Bool {
        guard let resolved = realpath(path, nil) else { return false }
        defer { free(resolved) }
        let path = String(cString: resolved)
        return FileStatus(path)?.kind == .file && path.begins(with: directory + "/")
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
