/// Which key and which address count: the environment's first, then those that the user set, then keys that a Mac gave.
package struct ProviderSettings: Sendable {
    /// The source of a key.
    package enum Source: Sendable, Hashable {
        /// The variable's name.
        case environment(String)
        case kept
        case synced
    }

    private let environment: [String: String]
    private let store: ProviderKeyStore
    private let synced: @Sendable (Provider) -> String?

    /// - Parameter synced: The keys that came from the agent's own host, if any did.
    package init(
        environment: [String: String],
        store: ProviderKeyStore,
        synced: @escaping @Sendable (Provider) -> String? = { _ in nil }
    ) {
        self.environment = environment
        self.store = store
        self.synced = synced
    }

    /// The key for a provider and where it is from; nil where there is none.
    ///
    /// - Throws: ``ProviderError/Code/keyUnusable`` for one that cannot be a key; ``ProviderKeyStoreError``.
    package func key(for provider: Provider) throws -> (key: ProviderKey, source: Source)? {
        func make(_ text: String, from source: Source, at place: String) throws -> (ProviderKey, Source) {
            guard let key = ProviderKey(text) else {
                throw ProviderError(
                    .keyUnusable,
                    provider: provider,
                    message:
                        "The key for \(provider.displayName) in \(place) has blanks or other characters that no key has."
                )
            }
            return (key, source)
        }
        if let variable = provider.keyVariable, let text = environment[variable], !text.isEmpty {
            return try make(text, from: .environment(variable), at: variable)
        }
        if let kept = try store.key(of: provider) { return (kept, .kept) }
        return try synced(provider).map { try make($0, from: .synced, at: "what the Mac gave") }
    }

    /// Returns the URL of a provider: the environment's, else the one that the user set, else the provider's standard
    /// one.
    ///
    /// - Throws: ``ProviderError/Code/refusedURL``; ``ProviderKeyStoreError``.
    package func url(for provider: Provider) throws -> ProviderURL {
        let named = environment[provider.urlVariable].flatMap { $0.isEmpty ? nil : $0 }
        return try ProviderURL(named ?? store.url(of: provider) ?? provider.standardURL, provider: provider)
    }

    /// Returns the URL of a provider together with the key for it.
    ///
    /// - Throws: ``ProviderError/Code/keyMissing`` if the provider needs a key and there is none; as ``url(for:)`` and
    ///   ``key(for:)`` do.
    package func endpoint(for provider: Provider) throws -> ProviderEndpoint {
        let url = try url(for: provider)
        let key = try key(for: provider)?.key
        guard key != nil || !provider.needsKey else {
            throw ProviderError(
                .keyMissing,
                provider: provider,
                message: "There is no key for \(provider.displayName)."
            )
        }
        return ProviderEndpoint(provider: provider, url: url, key: key)
    }
}
