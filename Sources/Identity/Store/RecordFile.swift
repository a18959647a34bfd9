internal import CompanionWire
internal import FoundationEssentials
internal import LocalState

/// A JSON file of records in the data directory (mode 0600), with the version of its format.
struct RecordFile<Content: Codable & Equatable & Sendable>: Sendable {
    let path: String
    private let lock: String
    /// Stands for a missing file.
    private let empty: Content
    /// What the file has, as its errors call it.
    private let kind: String
    /// How to go on without a damaged file, before the command that moves it away.
    private let remedy: String
    private let encoder: @Sendable () -> JSONEncoder

    private struct Version: Decodable {
        var version: Int
    }

    /// The version that this program writes, in all such files.
    private static var version: Int { 1 }

    init(
        directory: String,
        name: String,
        empty: Content,
        kind: String,
        remedy: String,
        encoder: @escaping @Sendable () -> JSONEncoder = { CompanionJSON.encoder(sorted: true) }
    ) {
        (path, lock) = ("\(directory)/\(name).json", "\(directory)/\(name).lock")
        (self.empty, self.kind, self.remedy, self.encoder) = (empty, kind, remedy, encoder)
    }

    /// - Parameter isChecked: Whether to refuse a file that other users may have written. Default: true; false only to
    ///   check whether it is damaged.
    /// - Throws: ``PairedHostStoreError`` if the file is damaged or was written by a newer version;
    ///   `PrivateFile.Failure` if it cannot be read or is refused. It is left as it is.
    func load(isChecked: Bool = true) throws -> Content {
        guard let bytes = try PrivateFile.readRecord(path, isChecked: isChecked) else { return empty }
        let decoder = CompanionJSON.decoder()
        if let version = try? decoder.decode(Version.self, from: Data(bytes)).version, version > Self.version {
            throw PairedHostStoreError(
                description: "\(path) was written by a newer version of pairtool",
                remedy: "update pairtool"
            )
        }
        do {
            return try decoder.decode(Content.self, from: Data(bytes))
        } catch {
            throw PairedHostStoreError(
                description: "\(kind) in \(path) are damaged",
                remedy: "\(remedy): mv '\(path)' '\(path).damaged'",
                isDamage: true
            )
        }
    }

    /// Changes the content: reads, changes and writes it atomically, while no other process does the same.
    ///
    /// - Parameter replacesDamaged: Whether a damaged file counts as a missing one. Default: false, it is an error.
    func update<R>(replacesDamaged: Bool = false, _ change: (inout Content) throws -> R) throws -> R {
        try PrivateFile.update(
            path,
            lock: lock,
            encoder: encoder(),
            load: {
                do {
                    return try load()
                } catch let error as PairedHostStoreError where replacesDamaged && error.isDamage {
                    return empty
                }
            },
            change
        )
    }
}
