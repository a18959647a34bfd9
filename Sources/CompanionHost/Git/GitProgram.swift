import CompanionWire
import Glibc
import LocalState
import NIOConcurrencyHelpers
import Subprocess
import SystemPackage

/// Runs git so that nothing runs with it which a repository names: git reads no configuration of a repository
/// (``GitView``). It fetches nothing and asks nothing.
enum GitProgram {
    struct Result: Sendable {
        var status: TerminationStatus
        var output: [UInt8]
        /// Whether there was more output than was wanted.
        var isCut: Bool
        /// The last that git wrote to standard error: a line, or more where its reason to end has more.
        var error: String

        init(status: TerminationStatus, output: [UInt8], isCut: Bool, error: String) {
            (self.status, self.output, self.isCut, self.error) = (status, output, isCut, error)
        }

        /// The result of a git that refuses a repository: status 128, and its message.
        init(refusal: String) {
            self.init(status: .exited(128), output: [], isCut: false, error: refusal)
        }

        var isSuccess: Bool { status.isSuccess }
        /// The output's lines.
        var lines: [Substring] { String(decoding: output, as: UTF8.self).parts("\n") }
    }

    /// An error of a run that came to no result: git is not installed, or took too long.
    struct Failure: Error, Sendable {
        enum Reason: Sendable { case notInstalled, tooSlow }
        var reason: Reason
    }

    /// Settings for every run, in place of git's own defaults.
    private static let settings = [
        "core.hooksPath=/dev/null", "core.attributesFile=/dev/null", "core.quotePath=false", "core.splitIndex=false",
        "safe.bareRepository=explicit", "protocol.allow=never", "gc.auto=0", "maintenance.auto=false",
        "core.bigFileThreshold=16m",
    ]

    /// Runs git, and returns its status and output.
    ///
    /// - Parameters:
    ///   - arguments: Without the program's name. Paths are bytes.
    ///   - directory: The top directory of a working tree, unless the environment has a `GIT_DIR`.
    ///   - moved: The directories of that working tree where the host has moved it aside (``GitRepository/moved``).
    ///   - environment: Variables besides those of every run. A `GIT_DIR` in it is one of the host's own.
    ///   - limit: Bytes of output that are kept.
    ///   - readsOwnersSettings: Whether the owner's own configuration is read.
    /// - Returns: A failure also where git is not run, because it would refuse the repository or wait in it for ever.
    /// - Throws: ``Failure``, `CancellationError`.
    static func run(
        _ arguments: [String],
        paths: [[UInt8]] = [],
        in directory: String,
        of moved: GitDirectory? = nil,
        environment: [Environment.Key: String] = [:],
        input: [UInt8] = [],
        limit: Int = 1 << 20,
        readsOwnersSettings: Bool = false,
        within time: Duration
    ) async throws -> Result {
        if environment["GIT_DIR"] == nil {
            let view: GitView
            do {
                view =
                    if let moved {
                        try await GitView(of: moved, with: GitSettings(of: moved))
                    } else {
                        try await GitView(of: directory)
                    }
            } catch let error as GitError {
                return Result(refusal: error.message)
            }
            return try await view.use { shown in
                let environment = shown.merging(environment) { $1 }
                return try await run(
                    arguments,
                    paths: paths,
                    in: directory,
                    environment: environment,
                    input: input,
                    limit: limit,
                    within: time
                )
            }
        }
        let base = Self.environment(readsOwnersSettings: readsOwnersSettings)
        let environment = base.merging(environment) { $1 }
        let result = try await withTimeLimit(time) {
            try await watching(directory) {
                try await launch(
                    arguments,
                    paths: paths,
                    in: directory,
                    environment: environment,
                    input: input,
                    limit: limit
                )
            }
        }
        guard let result else { throw Failure(reason: .tooSlow) }
        try Task.checkCancellation()
        return result
    }

    /// Runs git. If it does not answer for a moment, looks for an entry that it may wait for (``GitObstacle``).
    private static func watching(
        _ directory: String,
        _ launch: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        func refusal(_ path: String) -> Result { Result(refusal: GitFile.notRegular(path).message) }
        if let path = try await GitFile.reading({ GitObstacle.atTop(of: directory) }) { return refusal(path) }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await launch() }
            group.addTask {
                try? await Task.sleep(for: GitObstacle.patience)
                guard !Task.isCancelled, let path = await GitObstacle.find(in: directory) else { return nil }
                return refusal(path)
            }
            defer { group.cancelAll() }
            for try await result in group {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private static func launch(
        _ arguments: [String],
        paths: [[UInt8]],
        in directory: String,
        environment: [Environment.Key: String],
        input: [UInt8],
        limit: Int
    ) async throws -> Result {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .milliseconds(500))
        ]
        let words = ["--no-pager"] + settings.flatMap { ["-c", $0] } + arguments
        let bytes = words.map { Array($0.utf8) } + paths
        let output = NIOLockedValueBox<(bytes: [UInt8], isCut: Bool)>(([], false))
        let errors = NIOLockedValueBox<[UInt8]>([])
        do {
            let outcome = try await Subprocess.run(
                .name("git"),
                // With the zero at the end that the system needs.
                arguments: Arguments(bytes.map { $0 + [0] }),
                environment: .custom(environment),
                workingDirectory: FilePath(directory),
                platformOptions: options,
                input: .inputWriter,
                output: .sequence,
                error: .sequence
            ) { execution in
                await withTaskGroup { group in
                    group.addTask {
                        if !input.isEmpty { _ = try? await execution.standardInputWriter.write(input) }
                        try? await execution.standardInputWriter.finish()
                    }
                    group.addTask {
                        for await buffer in Chunks(execution.standardOutput) {
                            let isNew = output.withLockedValue { output in
                                guard !output.isCut else { return false }
                                let room = limit - output.bytes.count
                                output.bytes += buffer.prefix(room)
                                output.isCut = buffer.count > room
                                return output.isCut
                            }
                            if isNew { try? execution.send(signal: .terminate, toProcessGroup: true) }
                        }
                    }
                    group.addTask {
                        for await buffer in Chunks(execution.standardError) {
                            errors.withLockedValue { $0 = Array(($0 + buffer).suffix(4096)) }
                        }
                    }
                }
            }
            let (kept, isCut) = output.withLockedValue { $0 }
            let said = String(decoding: errors.withLockedValue { $0 }, as: UTF8.self).parts("\n")
            let reason = said.lastIndex { $0.begins(with: "fatal: ") } ?? max(said.count - 1, 0)
            let error = said[reason...].joined(separator: " ")
            return Result(status: outcome.terminationStatus, output: kept, isCut: isCut, error: error)
        } catch let error as SubprocessError where !Task.isCancelled {
            guard error.code == .executableNotFound else { throw error }
            throw Failure(reason: .notInstalled)
        }
    }

    /// The pieces of an output; one that breaks off has ended.
    private struct Chunks: AsyncSequence, AsyncIteratorProtocol {
        private var base: SubprocessOutputSequence.Iterator

        init(_ sequence: SubprocessOutputSequence) {
            base = sequence.makeAsyncIterator()
        }

        func makeAsyncIterator() -> Self { self }

        mutating func next() async -> [UInt8]? {
            (try? await base.next())?.withUnsafeBytes { Array($0) }
        }
    }

    private static func environment(readsOwnersSettings: Bool) -> [Environment.Key: String] {
        func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        var environment: [Environment.Key: String] = [
            "PATH": value("PATH") ?? "/usr/local/bin:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "GIT_ATTR_NOSYSTEM": "1",
            // No transport may be used.
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_PAGER": "cat",
            "GIT_TERMINAL_PROMPT": "0",
        ]
        if readsOwnersSettings {
            environment["HOME"] = value("HOME")
            environment["XDG_CONFIG_HOME"] = value("XDG_CONFIG_HOME")
        } else {
            environment["HOME"] = "/nonexistent"
            environment["GIT_CONFIG_GLOBAL"] = "/dev/null"
            environment["GIT_CONFIG_NOSYSTEM"] = "1"
        }
        return environment
    }
}
