/// Why a provider gave no answer, or only a part of it.
package struct ProviderError: Error, Sendable {
    /// The kind of a failure.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case unreachable, redirected, forbidden, overloaded, server, blocked, image
            case unknownProvider = "unknown_provider"
            case noAgent = "no_agent"
            case keyMissing = "key_missing"
            case keyUnusable = "key_unusable"
            case timedOut = "timed_out"
            case keyRefused = "key_refused"
            case notFound = "not_found"
            case badRequest = "bad_request"
            case rateLimited = "rate_limited"
            case badAnswer = "bad_answer"
            case tooLarge = "too_large"
            case noAnswer = "no_answer"
            case streamInterrupted = "stream_interrupted"
            case contextOverflow = "context_overflow"
            case refusedURL = "refused_url"
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// pairtool does not know an agent's provider.
        package static let unknownProvider = Code(.unknownProvider)
        /// All agents of a conversation are gone.
        package static let noAgent = Code(.noAgent)
        /// The provider needs a key, and none is stored or in the environment.
        package static let keyMissing = Code(.keyMissing)
        /// The stored key is not a valid key.
        package static let keyUnusable = Code(.keyUnusable)
        /// The configured address is not one to send a key to. Nothing was sent.
        package static let refusedURL = Code(.refusedURL)
        /// No connection could be made.
        package static let unreachable = Code(.unreachable)
        /// The provider did not answer in time, or fell silent during its answer.
        package static let timedOut = Code(.timedOut)
        /// It answered with a redirect, which is never followed: the key is for one host.
        package static let redirected = Code(.redirected)
        /// Status 401.
        package static let keyRefused = Code(.keyRefused)
        /// Status 403.
        package static let forbidden = Code(.forbidden)
        /// Status 404: usually a model that does not exist.
        package static let notFound = Code(.notFound)
        /// Status 400, and others of the 4xx that have no code of their own.
        package static let badRequest = Code(.badRequest)
        /// The conversation is longer than the model takes.
        package static let contextOverflow = Code(.contextOverflow)
        /// Status 429; ``retryAfter`` where the provider says when.
        package static let rateLimited = Code(.rateLimited)
        /// Status 503 or 529, or an error of that kind in the stream.
        package static let overloaded = Code(.overloaded)
        /// Status 5xx, or an error in the stream.
        package static let server = Code(.server)
        /// The answer is not in the provider's format.
        package static let badAnswer = Code(.badAnswer)
        /// The request or the answer is larger than its limit.
        package static let tooLarge = Code(.tooLarge)
        /// The provider's content filter blocked the answer or the rest of it.
        package static let blocked = Code(.blocked)
        /// The answer ended as it should, and has no text.
        package static let noAnswer = Code(.noAnswer)
        /// The answer broke off before its end.
        package static let streamInterrupted = Code(.streamInterrupted)
        /// A picture that cannot be sent.
        package static let image = Code(.image)

        package var description: String { value.rawValue }
    }

    /// The kind of error, by which callers decide what to do.
    package var code: Code
    /// The provider that it is about; nil if pairtool does not know it.
    package var provider: Provider?
    /// The message for people.
    package var message: String
    /// The provider's message, without the key. Sanitise it before it reaches a terminal.
    package var providerText: String?
    /// The status of the provider's answer, if there was one.
    package var httpStatus: Int?
    /// How long to wait, as the provider says.
    package var retryAfter: Duration?
    /// The error of the connection, for logs; nil if the provider itself answered.
    package var underlying: (any Error)?

    /// - Parameter providerText: Only the first 500 characters are kept.
    package init(
        _ code: Code,
        provider: Provider?,
        message: String,
        providerText: String? = nil,
        httpStatus: Int? = nil,
        retryAfter: Duration? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.provider = provider
        self.message = message
        self.providerText = providerText.map { String($0.prefix(500)) }
        self.httpStatus = httpStatus
        self.retryAfter = retryAfter
        self.underlying = underlying
    }
}

extension ProviderError: CustomStringConvertible {
    package var description: String {
        guard let providerText, !providerText.isEmpty else { return message }
        return "\(message) \(provider?.displayName ?? "It") says: \(providerText)"
    }
}
