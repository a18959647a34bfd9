internal import Glibc

/// The directories of the tool's files (XDG Base Directory Specification). All are created with mode 0700.
package struct Paths: Sendable {
    /// Keys, paired hosts, the host's database.
    package let data: String
    /// The history. Also used for `runtime` if the system names no runtime directory.
    package let state: String
    /// The user's configuration: `config.toml`.
    package let config: String
    /// Sockets and locks.
    package let runtime: String

    /// - Parameter environment: The variables of the process.
    package init(environment: [String: String]) {
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? Paths.homeOfUser()
        func base(_ variable: String) -> String? {
            // The specification says that relative paths are ignored.
            environment[variable].flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 + "/pairtool" : nil }
        }
        data = base("XDG_DATA_HOME") ?? "\(home)/.local/share/pairtool"
        state = base("XDG_STATE_HOME") ?? "\(home)/.local/state/pairtool"
        config = base("XDG_CONFIG_HOME") ?? "\(home)/.config/pairtool"
        runtime = base("XDG_RUNTIME_DIR") ?? state + "/run"
    }

    private static func homeOfUser() -> String {
        guard let entry = getpwuid(getuid()), let home = entry.pointee.pw_dir else { return "/" }
        return String(cString: home)
    }
}
