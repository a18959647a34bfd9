package import CompanionWire
internal import FoundationEssentials
internal import LocalState

/// The records of paired hosts could not be read or written.
package struct PairedHostStoreError: Error, Sendable, CustomStringConvertible {
    package let description: String
    /// The command to run, or what else to do, if something helps.
    package let remedy: String?

    package init(description: String, remedy: String?) {
        self.description = description
        self.remedy = remedy
    }
}

/// Stores the records of paired hosts in one file, `hosts.json` in the data directory.
package struct PairedHostStore: Sendable {
    package let path: String
    private let directory: String

    /// - Parameter directory: The tool's data directory.
    package init(directory: String) {
        self.directory = directory
        path = directory + "/hosts.json"
    }

    /// The records; empty if no host was ever paired.
    ///
    /// - Parameter isChecked: Whether to refuse a file that other users may have written. Default: true; false only to
    ///   check whether it is damaged.
    /// - Throws: ``PairedHostStoreError`` when the file is damaged or refused; it is left as it is.
    package func load(isChecked: Bool = true) throws(PairedHostStoreError) -> PairedHosts {
        let content: [UInt8]?
        do {
            content = try PrivateFile.readRecord(path, isChecked: isChecked)
        } catch {
            throw PairedHostStoreError(
                description: "the records of paired hosts cannot be read: \(error)",
                remedy: error.remedy
            )
        }
        guard let content else { return PairedHosts() }
        struct Version: Decodable { var version: Int }
        let decoder = CompanionJSON.decoder()
        if let version = try? decoder.decode(Version.self, from: Data(content)).version, version > 1 {
            throw PairedHostStoreError(
                description: "\(path) was written by a newer version of pairtool",
                remedy: "update pairtool"
            )
        }
        do {
            return try decoder.decode(PairedHosts.self, from: Data(content))
        } catch {
            throw PairedHostStoreError(
                description: "the records of paired hosts in \(path) are damaged",
                remedy: "restore them, or move them away and pair again: mv '\(path)' '\(path).damaged'"
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
        let encoder = CompanionJSON.encoder(sorted: true)
        encoder.outputFormatting.insert(.prettyPrinted)
        return try PrivateFile.update(
            path,
            lock: directory + "/hosts.lock",
            encoder: encoder,
            load: { try load() },
            change
        )
    }
}
