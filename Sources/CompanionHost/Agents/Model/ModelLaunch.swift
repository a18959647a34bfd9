package import Providers

/// A model behind an interface of OpenAI's format, and what it is asked with.
package struct ModelLaunch: Sendable, Hashable {
    /// Tokens of a conversation, unless the owner says otherwise.
    package static let usualContext = 8192
    /// Fewer hold no instructions and tools beside a prompt.
    package static let contexts = 1024...4_000_000

    package var endpoint: ProviderEndpoint
    /// The models that devices may choose from; the first is the default.
    package var models: [String]
    /// How many tokens a conversation may have, the answer included.
    package var context: Int
    /// Where the key is from, for people; nil where none is sent.
    package var keyPlace: String?

    package init(
        endpoint: ProviderEndpoint,
        models: [String],
        context: Int = usualContext,
        keyPlace: String? = nil
    ) {
        self.endpoint = endpoint
        self.models = models
        self.context = context
        self.keyPlace = keyPlace
    }
}
