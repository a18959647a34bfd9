import CompanionWire
import Glibc
import LocalState

/// Programs that agents are.
package enum AgentProgram {
    /// Where a program is: its path as given, made absolute, or the first of its name in `PATH`; nil for none that may
    /// be run.
    package static func find(_ name: String) -> String? {
        if name.has("/") {
            guard isExecutable(name), let resolved = realpath(name, nil) else { return nil }
            defer { free(resolved) }
            // The name stays as it is given, made absolute: programs look at the name that they are called by.
            return name.begins(with: "/") ? name : String(cString: resolved)
        }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return path.parts(":").lazy.map { "\($0)/\(name)" }.first { $0.begins(with: "/") && isExecutable($0) }
    }

    /// - Throws: ``CompanionHostError/Code/agentNotFound``.
    static func found(_ name: String?) throws(CompanionHostError) -> String {
        guard let name, !name.isEmpty else {
            throw CompanionHostError(.agentNotFound, "The agent's command is empty.")
        }
        guard let path = find(name) else {
            throw CompanionHostError(
                .agentNotFound,
                "The agent's command \(name) does not exist, or may not be run. Give its full path, or install it."
            )
        }
        return path
    }

    static func isExecutable(_ path: String) -> Bool {
        FileStatus(path)?.kind == .file && access(path, X_OK) == 0
    }
}
