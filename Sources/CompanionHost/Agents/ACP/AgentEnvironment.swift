import CompanionWire
import FoundationEssentials

/// Selects the environment variables of this process that an agent's process gets: those that programs need to work,
/// and those that the owner named.
package struct AgentEnvironment: Sendable, Hashable {
    /// Variables that every agent gets.
    static let usual: Set<String> = [
        "HOME", "USER", "LOGNAME", "PATH", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS",
        // Keyrings, where agents keep what they signed in with.
        "DBUS_SESSION_BUS_ADDRESS",
        // The way to the network.
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
    ]

    /// Variables that the agent gets beside the usual ones.
    package var names: Set<String>
    /// Variables that it gets with these values, whatever this process has.
    package var fixed: [String: String]

    /// - Parameters:
    ///   - names: Variables that the agent gets beside the usual ones.
    ///   - fixed: Variables with their values. Default: none.
    package init(names: some Sequence<String> = [], fixed: [String: String] = [:]) {
        self.names = Set(names)
        self.fixed = fixed
    }

    /// The variables for a process.
    ///
    /// - Parameter all: The variables to choose from. Default: this process's.
    package func variables(of all: [String: String] = Self.current) -> [String: String] {
        all.filter { name, _ in
            Self.usual.contains(name) || names.contains(name) || name.begins(with: "LC_")
        }
        .merging(fixed) { $1 }
    }

    /// This process's environment.
    package static var current: [String: String] {
        ProcessInfo.processInfo.environment
    }
}
