package import FoundationEssentials

extension PrivateFile {
    /// Changes the content of a JSON file: reads it, changes it and, if it has changed, writes it atomically, while no
    /// other process does the same.
    ///
    /// - Parameters:
    ///   - lock: The lock file that all writers of the file use.
    ///   - isDurable: Whether to wait until the content is on the disk. Default: true.
    ///   - load: Reads the content, or returns the content that stands for a missing file.
    package static func update<Content: Encodable & Equatable, R>(
        _ path: String,
        lock: String,
        encoder: JSONEncoder,
        isDurable: Bool = true,
        load: () throws -> Content,
        _ change: (inout Content) throws -> R
    ) throws -> R {
        try FileLock.withBlocking(lock) {
            var content = try load()
            let before = content
            let result = try change(&content)
            if content != before {
                let data = try encoder.encode(content)
                try data.withUnsafeBytes { try write($0, to: path, isDurable: isDurable) }
            }
            return result
        }
    }
}
