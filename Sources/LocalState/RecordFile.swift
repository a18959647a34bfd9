package import FoundationEssentials

/// Records could not be read or written.
package struct RecordFileError: Error, Sendable, CustomStringConvertible {
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

/// A JSON file of records (mode 0600), with the version of its format.
package struct RecordFile<Content: Decodable & Sendable>: Sendable {
    /// The path of the file, which need not exist yet.
    package let path: String
    /// The lock file that all writers of the file use.
    package let lock: String
    private let limit: Int
    private let decoder: JSONDecoder
    private let encoder: JSONEncoder
    /// Stands for a missing file.
    private let empty: Content
    private let kind: String?
    private let remedy: String
    private let isDurable: Bool
    private let reading: (@Sendable (_ path: String) throws -> [UInt8]?)?

    private struct Version: Decodable {
        var version: Int
    }

    /// The version that this program writes, in all such files.
    private static var version: Int { 1 }

    /// - Parameters:
    ///   - limit: The largest size in bytes. Default: 16 MiB.
    ///   - empty: Stands for a missing file.
    ///   - kind: The name of the records in errors, in the plural. Default: errors name only the file.
    ///   - remedy: How to go on without a damaged file, before the command that moves it away.
    ///   - isDurable: Whether writers wait until the content is on the disk. Default: true.
    ///   - reading: Reads the file where more is checked, and returns nil if it does not exist. Default: it is refused
    ///     if other users may have written it.
    package init(
        path: String,
        lock: String,
        limit: Int = 16 << 20,
        decoder: JSONDecoder,
        encoder: JSONEncoder,
        empty: Content,
        kind: String? = nil,
        remedy: String,
        isDurable: Bool = true,
        reading: (@Sendable (_ path: String) throws -> [UInt8]?)? = nil
    ) {
        (self.path, self.lock, self.limit) = (path, lock, limit)
        (self.decoder, self.encoder, self.empty) = (decoder, encoder, empty)
        (self.kind, self.remedy, self.isDurable, self.reading) = (kind, remedy, isDurable, reading)
    }

    /// Reads the content; a missing file has the `empty` one.
    ///
    /// - Parameter isChecked: Whether to refuse a file that other users may have written. Default: true; false only to
    ///   check whether it is damaged.
    /// - Throws: ``RecordFileError`` if the file is damaged or was written by a newer version; `PrivateFile.Failure` if
    ///   it cannot be read or is refused. It is left as it is.
    package func load(isChecked: Bool = true) throws -> Content {
        try stored(isChecked: isChecked) ?? empty
    }

    /// The same, or nil if the file does not exist.
    package func stored(isChecked: Bool = true) throws -> Content? {
        guard let bytes = try read(isChecked: isChecked) else { return nil }
        let data = Data(bytes)
        // The rest of a newer file may have another shape.
        if let version = try? decoder.decode(Version.self, from: data).version, version > Self.version {
            throw RecordFileError(
                description: "\(path) was written by a newer version of pairtool",
                remedy: "update pairtool"
            )
        }
        do {
            return try decoder.decode(Content.self, from: data)
        } catch {
            throw RecordFileError(
                description: kind.map { "\($0) in \(path) are damaged" } ?? "\(path) is damaged",
                remedy: "\(remedy): mv '\(path)' '\(path).damaged'",
                isDamage: true
            )
        }
    }

    private func read(isChecked: Bool) throws -> [UInt8]? {
        if isChecked, let reading { return try reading(path) }
        return try PrivateFile.readRecord(path, limit: limit, isChecked: isChecked)
    }

    /// Whether the file is not damaged. A file that is refused for its owner or mode, or that a newer version wrote,
    /// does not count as damaged.
    package var isWhole: Bool {
        do {
            _ = try stored()
            return true
        } catch let error as RecordFileError {
            return !error.isDamage
        } catch {
            return (error as? PrivateFile.Failure)?.remedy != nil
        }
    }
}

extension RecordFile where Content: Encodable & Equatable {
    /// Changes the content: reads it, changes it and, if it has changed, writes it atomically, while no other process
    /// does the same.
    ///
    /// - Parameters:
    ///   - replacesDamaged: Whether a damaged file counts as a missing one. Default: false, it is an error.
    ///   - change: Changes the content. Nothing is written if it throws.
    /// - Returns: The result of `change`.
    /// - Throws: ``RecordFileError`` if the file is damaged or was written by a newer version; `PrivateFile.Failure` if
    ///   it is refused, or cannot be read or written; the error of `change`.
    package func update<R>(replacesDamaged: Bool = false, _ change: (inout Content) throws -> R) throws -> R {
        try FileLock.withBlocking(lock) {
            let before: Content
            do {
                before = try load()
            } catch let error as RecordFileError where replacesDamaged && error.isDamage {
                before = empty
            }
            var content = before
            let result = try change(&content)
            if content != before {
                let data = try encoder.encode(content)
                try data.withUnsafeBytes { try PrivateFile.write($0, to: path, isDurable: isDurable) }
            }
            return result
        }
    }
}
