package import CompanionWire
internal import LocalState

/// Records, such as those of paired hosts, could not be read or written.
package struct PairedHostStoreError: Error, Sendable, CustomStringConvertible {
    package let description: String
    /// The command to run, or what else to do, if something helps.
    package let remedy: String?
    /// Whether the file was read and makes no sense.
    package let isDamage: Bool

    package init(description: String, remedy: String?, isDamage: Bool = false) {
        self.description = description
        self.remedy = remedy
        self.isDamage = isDamage
    }
}

/// Stores the records of paired hosts in one file, `hosts.json` in the data directory.
package struct PairedHostStore: Sendable {
    private let file: RecordFile<PairedHosts>
    package var path: String { file.path }

    /// - Parameter directory: The tool's data directory.
    package init(directory: String) {
        file = RecordFile(
            directory: directory,
            name: "hosts",
            empty: PairedHosts(),
            kind: "the records of paired hosts",
            remedy: "restore them, or move them away and pair again",
            isPretty: true
        )
    }

    /// The records; empty if no host was ever paired.
    ///
    /// - Parameter isChecked: Whether to refuse a file that other users may have written. Default: true; false only to
    ///   check whether it is damaged.
    /// - Throws: ``PairedHostStoreError`` when the file is damaged or refused; it is left as it is.
    package func load(isChecked: Bool = true) throws(PairedHostStoreError) -> PairedHosts {
        do {
            return try file.load(isChecked: isChecked)
        } catch let error as PairedHostStoreError {
            throw error
        } catch {
            throw PairedHostStoreError(
                description: "the records of paired hosts cannot be read: \(error)",
                remedy: (error as? PrivateFile.Failure)?.remedy
            )
        }
    }

    /// Stores a host's new endpoint, unless the host was removed or paired again in the meantime.
    package func move(_ host: PairedHost, to endpoint: CompanionEndpoint) throws {
        try update { hosts in
            guard
                let index = hosts.hosts.firstIndex(where: {
                    $0.id == host.id && $0.trust == host.trust && $0.spki == host.spki
                })
            else { return }
            hosts.hosts[index].endpoint = endpoint
        }
    }

    /// Changes the records: reads, changes and writes them atomically, while no other process does the same.
    package func update<R>(_ change: (inout PairedHosts) throws -> R) throws -> R {
        try file.update(change)
    }
}
