import CompanionWire
import FoundationEssentials
import LocalState

/// Keeps the keys of providers, and where they are, in a file of their own: `provider_keys.json` in the data directory
/// (mode 0600).
package struct ProviderKeyStore: Sendable {
    package let path: String
    private let directory: String

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
        self.directory = directory
        path = directory + "/provider_keys.json"
    }

    package func key(of provider: Provider) throws -> ProviderKey? {
        try load().providers[provider.rawValue]?.key.flatMap(ProviderKey.init)
    }

    /// Where the provider is, as the user said; nil where nothing was said.
    package func url(of provider: Provider) throws -> String? {
        try load().providers[provider.rawValue]?.url
    }

    /// - Parameters:
    ///   - key: Nil: the one that is kept stays.
    ///   - url: Nil: the one that is kept stays.
    package func keep(_ key: ProviderKey?, url: ProviderURL?, for provider: Provider) throws {
        try update { content in
            var record = content.providers[provider.rawValue] ?? Record()
            if let key { record.key = key.value }
            if let url { record.url = url.description }
            content.providers[provider.rawValue] = record
        }
    }

    /// - Returns: What there was to forget; nil where nothing was kept.
    package func forget(_ provider: Provider) throws -> (key: Bool, url: Bool)? {
        try update { content in
            content.providers.removeValue(forKey: provider.rawValue).map { ($0.key != nil, $0.url != nil) }
        }
    }

    private func load() throws(ProviderKeyStoreError) -> Content {
        let bytes: [UInt8]?
        do {
            bytes = try PrivateFile.readOwned(path, limit: 256 << 10)
        } catch {
            throw ProviderKeyStoreError(
                .unusable,
                "the keys in \(path) are not used: others may have written or read them (\(error))",
                remedy: "chmod 600 '\(path)'"
            )
        }
        guard let bytes else { return Content() }
        return try content(of: bytes)
    }

    /// Whether the file is whole, whoever else may use it; one that is not there is.
    ///
    /// - Throws: ``ProviderKeyStoreError``.
    package func check() throws {
        if let bytes = try PrivateFile.read(path) { _ = try content(of: bytes) }
    }

    private func content(of bytes: [UInt8]) throws(ProviderKeyStoreError) -> Content {
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)) else {
            throw ProviderKeyStoreError(
                .damaged,
                "the keys in \(path) are damaged",
                remedy: "move them away and set them anew: mv '\(path)' '\(path).damaged'"
            )
        }
        return content
    }

    private func update<R>(_ change: (inout Content) -> R) throws -> R {
        try PrivateFile.update(
            path,
            lock: directory + "/provider_keys.lock",
            encoder: CompanionJSON.encoder(sorted: true),
            load: load,
            change
        )
    }
}

/// The keys of providers could not be kept or read.
package struct ProviderKeyStoreError: Error, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The file does not hold what it should.
        case damaged
        /// It is not used: others may have written or read it.
        case unusable
    }

    package let code: Code
    /// What happened, for people. Holds nothing of the file's content.
    package let message: String
    /// The command that helps.
    package let remedy: String

    init(_ code: Code, _ message: String, remedy: String) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    package var description: String { message }
}
