import CompanionWire
import FoundationEssentials
package import LocalState

/// Stores the records of paired hosts in one file, `hosts.json` in the data directory.
package struct PairedHostStore: Sendable {
    private let file: RecordFile<PairedHosts>
    /// The path of `hosts.json`.
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
    /// - Throws: `RecordFileError` when the file is damaged or refused; it is left as it is.
    package func load(isChecked: Bool = true) throws(RecordFileError) -> PairedHosts {
        do {
            return try file.load(isChecked: isChecked)
        } catch let error as RecordFileError {
            throw error
        } catch {
            throw RecordFileError(
                description: "the records of paired hosts cannot be read: \(error)",
                remedy: (error as? PrivateFile.Failure)?.remedy
            )
        }
    }

    /// Stores where a host was reached, unless it was removed or paired again in the meantime.
    ///
    /// - Throws: `RecordFileError` if the file is damaged or was written by a newer version; `PrivateFile.Failure` if
    ///   it is refused, or cannot be read or written.
    package func move(_ host: PairedHost) throws {
        try update { hosts in
            guard
                let index = hosts.hosts.firstIndex(where: {
                    $0.id == host.id && $0.trust == host.trust && $0.spki == host.spki
                })
            else { return }
            hosts.hosts[index].endpoint = host.endpoint
            hosts.hosts[index].via = host.via
            hosts.hosts[index].isFar = host.isFar
        }
    }

    /// Changes the records: reads, changes and writes them atomically, while no other process does the same.
    ///
    /// - Throws: `RecordFileError` if the file is damaged or was written by a newer version; `PrivateFile.Failure` if
    ///   it is refused, or cannot be read or written. The error of `change`: nothing is written then.
    package func update<R>(_ change: (inout PairedHosts) throws -> R) throws -> R {
        try file.update(change)
    }
}

extension RecordFile {
    /// A file in the data directory, with its lock beside it.
    init(directory: String, name: String, empty: Content, kind: String, remedy: String, isPretty: Bool = false) {
        let encoder = CompanionJSON.encoder(sorted: true)
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        self.init(
            path: "\(directory)/\(name).json",
            lock: "\(directory)/\(name).lock",
            decoder: CompanionJSON.decoder(),
            encoder: encoder,
            empty: empty,
            kind: kind,
            remedy: remedy
        )
    }
}
