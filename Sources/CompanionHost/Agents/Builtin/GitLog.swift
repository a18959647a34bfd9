import CompanionWire
import Glibc
import LocalState
import Subprocess
import SystemPackage

/// The latest commits of a project that is a repository, by `git log`.
///
/// Git runs nothing that the repository's configuration names (pagers, hooks, signature programs, file system
/// monitors), fetches nothing, asks nothing, and does not look above the project's directory.
struct GitLog {
    static let timeout = Duration.seconds(10)
    private static let outputLimit = 256 << 10

    let directory: String

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
        let result: (status: TerminationStatus, output: String)?
        do {
            result = try await run(count: count)
        } catch let error as CancellationError {
            throw error
        } catch {
            refuse("Git could not be run on this machine.")
            return
        }
        guard let result else {
            refuse("Git took too long.")
            return
        }
        guard result.status.isSuccess else {
            refuse("Git cannot read this repository: it has no commits, or belongs to another user.")
            return
        }
        let lines = result.output.parts("\n")
        emit(.text(result.output))
        emit(.toolComplete(name: tool, id: "call-1", success: true, details: "\(lines.count) commits"))
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

    /// - Returns: nil when it took too long.
    private func run(count: Int) async throws -> (status: TerminationStatus, output: String)? {
        try await withThrowingTaskGroup(of: (status: TerminationStatus, output: String)?.self) { group in
            group.addTask { try await launch(count: count) }
            group.addTask {
                try await Task.sleep(for: Self.timeout)
                return nil
            }
            let first = try await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    private func launch(count: Int) async throws -> (status: TerminationStatus, output: String) {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .milliseconds(500))
        ]
        let result = try await Subprocess.run(
            .name("git"),
            arguments: [
                "--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.pager=cat",
                "-c", "safe.bareRepository=explicit", "-c", "log.showSignature=false", "-c", "gpg.program=/bin/false",
                "-c", "protocol.allow=never",
                "log", "--no-color", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-decorate",
                "--max-count=\(count)", "--date=short", "--format=%h  %ad  %an  %s",
            ],
            environment: .custom(environment),
            workingDirectory: FilePath(directory),
            platformOptions: options,
            output: .string(limit: Self.outputLimit),
            error: .discarded
        )
        return (result.terminationStatus, result.standardOutput)
    }

    private var environment: [Environment.Key: String] {
        let above = directory.cut(atLast: "/").map { String($0.before) } ?? "/"
        return [
            "PATH": getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": "/nonexistent",
            "GIT_CEILING_DIRECTORIES": above.isEmpty ? "/" : above,
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_PAGER": "cat",
            "GIT_TERMINAL_PROMPT": "0",
        ]
    }
}
