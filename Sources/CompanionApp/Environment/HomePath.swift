import CompanionWire

/// Paths that users type.
package enum HomePath {
    /// The path with the home directory in place of `~`.
    ///
    /// - Parameter variables: The environment variables; without `HOME`, the path stays.
    package static func expanded(_ path: String, _ variables: [String: String]) -> String {
        guard path.isSame(as: "~") || path.begins(with: "~/"), let home = variables["HOME"] else { return path }
        return home + path.dropFirst()
    }
}
