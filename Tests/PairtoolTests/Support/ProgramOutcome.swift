import Subprocess
import SystemPackage

/// What one of the tool's programs wrote, and how it ended.
struct ProgramOutcome: Equatable {
    var out: String
    var err: String
    /// nil after a signal.
    var status: Int32?

    static func of(_ program: String, _ arguments: [String], _ user: Sandbox) async throws -> ProgramOutcome {
        let result = try await Subprocess.run(
            .path(FilePath(program)),
            arguments: Arguments(arguments),
            environment: user.processEnvironment([:]),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        var status: Int32?
        if case .exited(let code) = result.terminationStatus { status = code }
        return ProgramOutcome(out: result.standardOutput, err: result.standardError, status: status)
    }
}
