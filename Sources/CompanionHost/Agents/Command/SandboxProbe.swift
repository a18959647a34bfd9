import CompanionWire
import Subprocess
import SystemPackage

/// Whether agents can be put into a box on this machine.
package enum SandboxProbe {
    /// - Returns: What is missing, for people; nil if a box can be made.
    package static func complaint() async -> String? {
        guard let program = AgentProgram.find("bwrap") else { return "bubblewrap is not installed" }
        let words = [
            "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--unshare-net", "--",
            "/bin/true",
        ]
        let result = try? await withTimeLimit(.seconds(5)) {
            try await Subprocess.run(
                .path(FilePath(program)),
                arguments: Arguments(words),
                input: .none,
                output: .discarded,
                error: .string(limit: 4 << 10)
            )
        }
        guard let result else { return "bubblewrap (\(program)) does not answer" }
        guard !result.terminationStatus.isSuccess else { return nil }
        let said = result.standardError.parts("\n").first?.trimmingWhitespace() ?? ""
        return "bubblewrap cannot make a box here" + (said.isEmpty ? "" : ": \(said.scalars(atMost: 200))")
    }
}
