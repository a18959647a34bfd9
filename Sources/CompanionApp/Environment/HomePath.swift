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

extension AppEnvironment {
    /// The path with the home directory in place of `~`.
    package func expanded(_ path: String) -> String { HomePath.expanded(path, variables) }

    /// The bytes of a file, as ``content`` has them, where `-` is a file like any other.
    func fileContent(_ path: String, _ limit: Int) async throws -> [UInt8]? {
        try await content(path.isSame(as: "-") ? "./-" : path, limit)
    }
}
