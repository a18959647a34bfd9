import CompanionWire
import Glibc

/// Where the tool keeps its files (XDG Base Directory Specification). All directories are created with mode 0700.
struct Paths: Sendable {
    /// Keys, paired hosts, the host's database.
    let data: String
    /// The history. Also used for `runtime` if the system names no runtime directory.
    let state: String
    /// What the user has chosen: `config.toml`.
    let config: String
    /// Sockets and locks.
    let runtime: String

    init(environment: [String: String]) {
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? Paths.homeOfUser()
        func base(_ variable: String, _ fallback: String) -> String {
            // The specification says that relative paths are ignored.
            let value = environment[variable].flatMap { $0.begins(with: "/") ? $0 : nil }
            return (value ?? "\(home)/\(fallback)") + "/pairtool"
        }
        data = base("XDG_DATA_HOME", ".local/share")
        state = base("XDG_STATE_HOME", ".local/state")
        config = base("XDG_CONFIG_HOME", ".config")
        let hasRuntime = environment["XDG_RUNTIME_DIR"]?.begins(with: "/") == true
        runtime = hasRuntime ? base("XDG_RUNTIME_DIR", "") : state + "/run"
    }

    private static func homeOfUser() -> String {
        guard let entry = getpwuid(getuid()), let home = entry.pointee.pw_dir else { return "/" }
        return String(cString: home)
    }
}
