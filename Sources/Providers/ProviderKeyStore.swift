import CompanionWire
import LocalState

/// Keeps the keys of providers, and where they are, in a file of their own: `provider_keys.json` in the data directory
/// (mode 0600).
package struct ProviderKeyStore: Sendable {
    private let file: RecordFile<Content>
    /// The path of the file, with mode 0600.
    package var path: String { file.path }

    private struct Content: Codable, Equatable {
        var version = 1
        /// By provider.
        var providers: [String: Record] = [:]
    }

    private struct Record: Codable, Equatable {
        var key: String?
        var url: String?
    }

    /// - Parameter directory: The tool's data directory.
    package init(directory: String) {
        file = RecordFile(
            path: directory + "/provider_keys.json",
            lock: directory + "/provider_keys.lock",
            decoder: CompanionJSON.decoder(),
            encoder: CompanionJSON.encoder(sorted: true),
            empty: Content(),
            kind: "the keys",
            remedy: "move them away and set them again"
        ) { path in
            do {
                return try PrivateFile.readOwned(path, limit: 256 << 10)
            } catch {
                throw ProviderKeyStoreError(
                    .unusable,
                    message: "the keys in \(path) are not used: others may have written or read them (\(error))",
                    remedy: "chmod 600 '\(path)'"
                )
            }
        }
    }

    /// Returns the key that the user set for the provider; nil if none was set, or if it cannot be a key.
    ///
    /// - Throws: ``ProviderKeyStoreError``.
    package func key(of provider: Provider) throws -> ProviderKey? {
        try load().providers[provider.rawValue]?.key.flatMap(ProviderKey.init)
    }

    /// Returns the URL that the user set for the provider; nil if none was set.
    ///
    /// - Throws: ``ProviderKeyStoreError``.
    package func url(of provider: Provider) throws -> String? {
        try load().providers[provider.rawValue]?.url
    }

    /// Stores the key of a provider, its URL or both.
    ///
    /// - Parameters:
    ///   - key: nil leaves the stored key as it is.
    ///   - url: nil leaves the stored URL as it is.
    /// - Throws: ``ProviderKeyStoreError`` if the file cannot be read; errors of writing.
    package func keep(_ key: ProviderKey?, url: ProviderURL?, for provider: Provider) throws {
        try update { content in
            var record = content.providers[provider.rawValue] ?? Record()
            if let key { record.key = key.value }
            if let url { record.url = url.description }
            content.providers[provider.rawValue] = record
        }
    }

    /// Removes the key and the URL of a provider.
    ///
    /// - Returns: Which of the two were stored; nil if neither was.
    /// - Throws: ``ProviderKeyStoreError`` if the file cannot be read; errors of writing.
    package func forget(_ provider: Provider) throws -> (key: Bool, url: Bool)? {
        try update { content in
            content.providers.removeValue(forKey: provider.rawValue).map { ($0.key != nil, $0.url != nil) }
        }
    }

    /// Checks that the file can be read, whatever its permissions. A missing file passes, and so does one of a newer
    /// version.
    ///
    /// - Throws: ``ProviderKeyStoreError`` if it cannot.
    package func check() throws {
        do {
            _ = try converting { try file.load(isChecked: false) }
        } catch let error as ProviderKeyStoreError where error.code == .newer {}
    }

    private func load() throws -> Content {
        try converting { try file.load() }
    }

    private func update<R>(_ change: (inout Content) -> R) throws -> R {
        try converting { try file.update(change) }
    }

    private func converting<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as RecordFileError {
            throw ProviderKeyStoreError(
                error.isDamage ? .damaged : .newer,
                message: error.description,
                remedy: error.remedy
            )
        }
    }
}

/// The keys of providers could not be kept or read.
package struct ProviderKeyStoreError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure.
    package enum Code: String, Sendable {
        /// The file does not hold what it should.
        case damaged
        /// A newer version of pairtool wrote it.
        case newer
        /// It is not used: others may have written or read it.
        case unusable
    }

    /// The kind of error.
    package let code: Code
    /// The message for people. Holds nothing of the file's content.
    package let message: String
    /// The command or act that helps, if there is one.
    package let remedy: String?

    init(_ code: Code, message: String, remedy: String?) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    package var description: String { message }
}

/// The key of a provider. Shows in no description.
package struct ProviderKey: Sendable, Hashable {
    /// For the header of a request, and nothing else.
    let value: String

    /// - Returns: nil for what no header can carry: nothing, blanks, control characters, more than 4 KiB.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 4096, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        value = text
    }

    /// A text of the provider without the key, which it may have repeated.
    func redacted(_ text: String) -> String {
        String(decoding: Array(text.utf8).replacing(Array(value.utf8), with: Array("[key]".utf8)), as: UTF8.self)
    }
}

extension ProviderKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "[key]" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
