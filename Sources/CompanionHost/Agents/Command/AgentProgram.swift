import CompanionWire
import FoundationEssentials
import Glibc
import LocalState

/// Programs that agents are.
package enum AgentProgram {
    /// Finds a program: by its path, which is made absolute, or the first one of its name in ``searchPath``.
    ///
    /// - Returns: Its path; nil if there is no such program that may be run.
    package static func find(_ name: String) -> String? {
        if name.has("/") {
            guard isExecutable(name), let resolved = RealPath.of(name) else { return nil }
            // The name stays as it is given, made absolute: programs look at the name that they are called by.
            return name.begins(with: "/") ? name : resolved
        }
        return searchPath.parts(":").lazy.map { "\($0)/\(name)" }.first { $0.begins(with: "/") && isExecutable($0) }
    }

    /// The folders of `PATH`, then those where users install programs: a user's services do not have them in `PATH`
    /// (systemd.exec(5)). Agents get it as their `PATH`, for the programs beside them.
    package static var searchPath: String {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        let known = path.parts(":").map(String.init)
        return ([path] + usersFolders.filter { !known.contains($0) }).joined(separator: ":")
    }

    /// The folder of this program, and those where npm, nvm, mise and users themselves install programs.
    private static var usersFolders: [String] {
        let home = getenv("HOME").map { String(cString: $0) }.flatMap { $0.begins(with: "/") ? $0 : nil }
        guard let home else { return [ownFolder].compactMap(\.self) }
        let own = [ownFolder, "\(home)/.local/bin", "\(home)/.npm-global/bin"].compactMap(\.self)
        return (own + nodeFolders(of: home) + ["\(home)/.local/share/mise/shims"]).unique
    }

    /// The folders of all versions of Node that nvm has installed, the newest first.
    private static func nodeFolders(of home: String) -> [String] {
        let place = getenv("NVM_DIR").map { String(cString: $0) } ?? "\(home)/.nvm"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "\(place)/versions/node")) ?? []
        let sorted = versions.map { name in (name, name.parts(".").map { Int($0.filter(\.isNumber)) ?? 0 }) }
            .sorted { $1.1.lexicographicallyPrecedes($0.1) }
        return sorted.map { "\(place)/versions/node/\($0.0)/bin" }
    }

    private static let ownFolder = RealPath.of("/proc/self/exe")?.cut(atLast: "/").map { String($0.before) }

    /// - Throws: ``CompanionHostError/Code/agentNotFound``.
    static func found(_ name: String?) throws(CompanionHostError) -> String {
        guard let name, !name.isEmpty else {
            throw CompanionHostError(.agentNotFound, "The agent's command is empty.")
        }
        guard let path = find(name) else {
            throw CompanionHostError(
                .agentNotFound,
                "The agent's command \(name) does not exist, or may not be run. Give its full path, or install it in a "
                    + "folder of PATH. \(serviceAdvice)"
            )
        }
        return path
    }

    /// How a service gets another `PATH`: it does not have that of a terminal.
    package static let serviceAdvice =
        "For a service, set PATH in ~/.config/pairtool/host.env: PATH=/home/ada/tools/bin:/usr/local/bin:/usr/bin:/bin"

    static func isExecutable(_ path: String) -> Bool {
        FileStatus(path)?.kind == .file && access(path, X_OK) == 0
    }
}
