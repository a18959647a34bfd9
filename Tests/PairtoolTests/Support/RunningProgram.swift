import FoundationEssentials
import Subprocess

@testable import pairtool

/// A program that runs beside a test.
struct RunningProgram: Sendable {
    /// Its lines of JSON.
    let events: HostEvents
    /// Writes a line to its standard input.
    let tell: @Sendable (String) async throws -> Void
    fileprivate let texts: AsyncStream<String>

    struct Ended: Error {}

    /// Waits for a line that is no JSON.
    func firstText() async throws {
        for await _ in texts { return }
        throw Ended()
    }
}

extension Sandbox {
    /// Runs a program while a body runs, and ends it behind it.
    func withProgram<R: Sendable>(
        _ program: Executable,
        _ arguments: [String],
        environment: [String: String] = [:],
        _ body: @escaping @Sendable (RunningProgram) async throws -> R
    ) async throws -> R {
        try await Subprocess.run(
            program,
            arguments: Arguments(arguments),
            environment: processEnvironment(environment),
            input: .inputWriter,
            output: .sequence,
            error: .discarded
        ) { process in
            let events = HostEvents()
            let (texts, text) = AsyncStream.makeStream(of: String.self)
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    // A line has all that a terminal has shown.
                    let lines = process.standardOutput.strings(bufferingPolicy: .maxLineLength(16 << 20))
                    for try await line in lines {
                        if line.hasPrefix("{") { try await events.take(line) } else { text.yield(line) }
                    }
                    await events.end()
                    text.finish()
                }
                defer { try? process.send(signal: .terminate) }
                let tell: @Sendable (String) async throws -> Void = { line in
                    _ = try await process.standardInputWriter.write(line + "\n")
                }
                return try await body(RunningProgram(events: events, tell: tell, texts: texts))
            }
        }.closureResult
    }
}
