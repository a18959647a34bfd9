package import CompanionWire
internal import FoundationEssentials

/// The records of paired hosts could not be read or written.
package struct PairedHostStoreError: Error, Sendable, CustomStringConvertible {
    package let description: String
    /// The command or act that helps, if there is one.
    package let remedy: String?

    package init(description: String, remedy: String?) {
        self.description = description
        self.remedy = remedy
    }
}

/// Keeps the records of paired hosts in one file, `hosts.json` in the data directory.
package struct PairedHostStore: Sendable {
    package let path: String
    private let directory: String

    /// - Parameter directory: The tool's data directory.
    package init(directory: String) {
        self.directory = directory
        path = directory + "/hosts.json"
    }

    /// The records; none where nothing was ever paired.
    ///
    /// - Parameter isChecked: Whether a file that others can have written is refused. Default: true; false for looking
    ///   whether it is damaged alone.
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

    /// Keeps where a host was found, unless it has been forgotten or paired anew meanwhile.
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

    /// Changes the records: read, change and atomic write, while no other process does the same.
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
