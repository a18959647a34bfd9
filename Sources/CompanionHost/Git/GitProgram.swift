import CompanionWire
import Glibc
import NIOConcurrencyHelpers
import Subprocess
import SystemPackage

/// Runs git so that nothing runs with it which a repository names: no hooks, pagers, editors, file system monitors,
/// programs for signatures or connections. It fetches nothing and asks nothing.
///
/// Filters and programs for differences are not switched off here, because their names are the repository's: what reads
/// or writes files of a project runs with a configuration of the host's own (``GitSnapshots``).
enum GitProgram {
    struct Result: Sendable {
        var status: TerminationStatus
        var output: [UInt8]
        /// Whether there was more output than was wanted.
        var isCut: Bool
        /// The last that git wrote to standard error: a line, or more where its reason to end has more.
        var error: String

        var isSuccess: Bool { status.isSuccess }
        /// The output's lines.
        var lines: [Substring] { String(decoding: output, as: UTF8.self).parts("\n") }
    }

    /// What git did not do.
    struct Failure: Error, Sendable {
        enum Reason: Sendable { case notInstalled, tooSlow }
        var reason: Reason
    }

    private static let settings = [
        "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "core.editor=/bin/false",
        "core.sshCommand=/bin/false", "core.attributesFile=/dev/null", "core.quotePath=false",
        "core.untrackedCache=false", "core.splitIndex=false", "safe.bareRepository=explicit", "log.showSignature=false",
        "gpg.program=/bin/false",
        "protocol.allow=never", "gc.auto=0", "maintenance.auto=false", "submodule.recurse=false",
        "core.bigFileThreshold=16m",
    ]

    /// - Parameters:
    ///   - arguments: Without the program's name. Paths are bytes.
    ///   - environment: In addition to what every run has.
    ///   - limit: Bytes of output that are kept.
    /// - Throws: ``Failure``, `CancellationError`.
    static func run(
        _ arguments: [String],
        paths: [[UInt8]] = [],
        in directory: String,
        environment: [Environment.Key: String] = [:],
        input: [UInt8] = [],
        limit: Int = 1 << 20,
        within time: Duration
    ) async throws -> Result {
        let result = try await withTimeLimit(time) {
            try await launch(arguments, paths, in: directory, environment, input: input, limit: limit)
        }
        guard let result else { throw Failure(reason: .tooSlow) }
        try Task.checkCancellation()
        return result
    }

    private static func launch(
        _ arguments: [String],
        _ paths: [[UInt8]],
        in directory: String,
        _ more: [Environment.Key: String],
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
                environment: .custom(environment(of: directory).merging(more) { $1 }),
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

    private static func environment(of directory: String) -> [Environment.Key: String] {
        let above = directory.cut(atLast: "/").map { String($0.before) } ?? "/"
        return [
            "PATH": getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": "/nonexistent",
            // A list with colons between: a directory with a colon has no limit, and git refuses what it finds above.
            "GIT_CEILING_DIRECTORIES": above.isEmpty ? "/" : above,
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            // No transport may be used, whatever the repository's configuration allows.
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_PAGER": "cat",
            "GIT_TERMINAL_PROMPT": "0",
        ]
    }
}
