/// The files that a family keeps for its hosts in the tool's data directory.
package struct FamilyFiles: Sendable {
    /// A damaged file.
    package struct Damage: Sendable, Hashable {
        /// The absolute path of the damaged file.
        package var path: String
        /// Whether the host has what the file held.
        package var canBePulledAgain: Bool

        init(_ path: String, canBePulledAgain: Bool = false) {
            self.path = path
            self.canBePulledAgain = canBePulledAgain
        }
    }

    /// The name of their directory in the data directory. It has a directory for each host.
    package let directory: String
    /// The damaged files of a host, by the data directory and the name of the host's directory.
    package let damaged: @Sendable (_ data: String, _ host: String) -> [Damage]

    init(directory: String, damaged: @escaping @Sendable (_ data: String, _ host: String) -> [Damage]) {
        self.directory = directory
        self.damaged = damaged
    }
}
