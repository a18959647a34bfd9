internal import CompanionWire
package import FoundationEssentials

extension PrivateFile {
    /// Changes what a file of JSON holds: reads it, changes it and writes it atomically where it has changed, while no
    /// other process does so.
    ///
    /// - Parameters:
    ///   - lock: The lock file that all who change the file use.
    ///   - encoder: Default: the protocol's, with sorted keys.
    ///   - load: Reads the content, or makes what stands for none.
    package static func update<Content: Encodable & Equatable, R>(
        _ path: String,
        lock: String,
        encoder: JSONEncoder? = nil,
        load: () throws -> Content,
        _ change: (inout Content) throws -> R
    ) throws -> R {
        try withLock(lock) {
            var content = try load()
            let before = content
            let result = try change(&content)
            if content != before {
                let data = try (encoder ?? CompanionJSON.encoder(sorted: true)).encode(content)
                try data.withUnsafeBytes { try write($0, to: path) }
            }
            return result
        }
    }
}
