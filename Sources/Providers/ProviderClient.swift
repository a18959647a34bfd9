import AsyncHTTPClient
import CompanionWire
import FoundationEssentials
package import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// The address of a provider, and the key for it.
package struct ProviderEndpoint: Sendable, Hashable {
    /// The service, which decides the format of requests.
    package var provider: Provider
    /// The address that paths are appended to.
    package var url: ProviderURL
    /// The key that is sent; nil for servers that need none.
    package var key: ProviderKey?
    /// The provider's name in errors. Default: its display name.
    package let name: String
    /// The name in errors about the connection: with the host of the URL, unless a name was given.
    let place: String

    /// - Parameter name: The name in errors, for one of the many servers that speak a provider's format.
    package init(provider: Provider, url: ProviderURL, key: ProviderKey?, name: String? = nil) {
        self.provider = provider
        self.url = url
        self.key = key
        self.name = name ?? provider.displayName
        place = name ?? "\(provider.displayName) at \(url.host)"
    }
}

/// Asks providers and reads their streamed answers. Follows no redirects and writes no key anywhere.
package struct ProviderClient: Sendable {
    /// How long the client waits, and how much it reads.
    package struct Limits: Sendable, Hashable {
        /// For a connection to stand. Default: 10 s.
        package var connect: Duration
        /// For the head of an answer: a model may have to be loaded first. Also limited by ``idle``. Default: 180 s.
        package var head: Duration
        /// For the next byte of an answer, its first one included, and for the next piece of it. Default: 180 s.
        package var idle: Duration
        /// The most bytes of an answer. Default: 32 MiB.
        package var answer: Int

        package init(
            connect: Duration = .seconds(10),
            head: Duration = .seconds(180),
            idle: Duration = .seconds(180),
            answer: Int = 32 << 20
        ) {
            self.connect = connect
            self.head = head
            self.idle = idle
            self.answer = answer
        }
    }

    private let http: HTTPClient
    private let limits: Limits
    private let traits: ServerTraits
    private let logger: Logger

    /// Runs `body` with a client, and closes its connections behind it.
    ///
    /// - Parameter traits: What is known of servers. Default: nothing yet.
    package static func withClient<Result>(
        limits: Limits = Limits(),
        traits: ServerTraits = ServerTraits(),
        logger: Logger = Logger(label: "providers", factory: { _ in SwiftLogNoOpLogHandler() }),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (ProviderClient) async throws -> Result
    ) async throws -> Result {
        let configuration = HTTPClient.Configuration.direct(connect: limits.connect, idle: limits.idle)
        return try await HTTPClient.withHTTPClient(configuration: configuration) { http in
            try await body(ProviderClient(http: http, limits: limits, traits: traits, logger: logger))
        }
    }

    /// Asks, and hands on the events of the answer as they come; the last one is ``ProviderEvent/finished(_:)``, but for
    /// a count of tokens. Where the server refuses a part of the request, the prompt is sent once more without it.
    ///
    /// - Throws: ``ProviderError``; `CancellationError`; what `take` throws.
    package func answer(
        _ prompt: ProviderPrompt,
        from endpoint: ProviderEndpoint,
        isolation: isolated (any Actor)? = #isolation,
        _ take: (ProviderEvent) throws -> Void
    ) async throws {
        while true {
            let known = traits.traits(of: endpoint, model: prompt.model)
            var hasBegun = false
            do {
                return try await answer(prompt, from: endpoint, knowing: known) { event in
                    hasBegun = true
                    try take(event)
                }
            } catch let error as ProviderError {
                guard !hasBegun, traits.learn(from: error, of: prompt, at: endpoint) else {
                    throw traits.telling(error, at: endpoint)
                }
            }
        }
    }

    /// Asks once.
    private func answer(
        _ prompt: ProviderPrompt,
        from endpoint: ProviderEndpoint,
        knowing known: ServerTraits.Traits,
        isolation: isolated (any Actor)? = #isolation,
        _ take: (ProviderEvent) throws -> Void
    ) async throws {
        var reader = AnswerReader(format: endpoint.provider.makeFormat())
        let asked = try reader.format.request(
            prompt.without(known.omitted),
            key: endpoint.key,
            without: known.omitted
        )
        let response = try await open(asked, at: endpoint, path: known.path)
        try await check(response, from: endpoint)
        var received = 0
        var lastPiece = ContinuousClock.now
        var body = response.body.makeAsyncIterator()
        reading: while !reader.isOver {
            let part: ByteBuffer?
            do {
                part = try await body.next()
                try Task.checkCancellation()
            } catch {
                if isCancellation(error) { throw CancellationError() }
                // After the end there is nothing more to lose.
                if reader.format.isComplete { break reading }
                throw interrupted(error, at: endpoint)
            }
            guard let part else { break reading }
            received += part.readableBytes
            guard received <= limits.answer else { throw tooLarge(endpoint) }
            let pieces = reader.pieces
            try translating(endpoint) { try reader.feed(part.readableBytesView, take) }
            if reader.pieces > pieces {
                lastPiece = .now
            } else if .now - lastPiece > limits.idle {
                // Signs of life alone are no answer.
                throw interrupted(HTTPClientError.readTimeout, at: endpoint)
            }
        }
        try translating(endpoint) { try reader.finish(take) }
        guard reader.format.isComplete else {
            let isForeign = received > 0 && reader.pieces == 0
            throw isForeign ? unknown(endpoint, says: reader.words) : interrupted(nil, at: endpoint, says: reader.words)
        }
    }

    /// Runs `body`; what is wrong with the answer in it becomes an error for people.
    private func translating(_ endpoint: ProviderEndpoint, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let failure as ProviderFailure {
            throw error(for: failure, at: endpoint)
        } catch is UnknownPiece {
            throw unknown(endpoint)
        } catch is PieceTooLarge {
            throw tooLarge(endpoint)
        }
    }

    /// The ids of the models that a server of OpenAI's format lists, at most a thousand.
    ///
    /// - Throws: ``ProviderError``; `CancellationError`.
    package func models(at endpoint: ProviderEndpoint) async throws -> [String] {
        do {
            return try await models(at: endpoint, path: traits.path(of: endpoint))
        } catch let error as ProviderError where traits.learnPath(from: error, of: endpoint) {
            return try await models(at: endpoint, path: traits.path(of: endpoint))
        }
    }

    private func models(at endpoint: ProviderEndpoint, path: String) async throws -> [String] {
        struct List: Decodable {
            struct Model: Codable, Sendable, Hashable {
                var id: String
            }

            var data: LossyArray<Model>
        }
        var message = HTTPClientRequest(url: "\(endpoint.url)\(path)/models")
        for (name, value) in OpenAIFormat.headers(endpoint.key) { message.headers.add(name: name, value: value) }
        let response = try await execute(message, at: endpoint)
        try await check(response, from: endpoint)
        let body: ByteBuffer
        do {
            body = try await response.body.collect(upTo: 1 << 20)
        } catch {
            throw isCancellation(error) ? CancellationError() : interrupted(error, at: endpoint)
        }
        guard let list = try? JSONDecoder().decode(List.self, from: Data(buffer: body)) else { throw unknown(endpoint) }
        return list.data.elements.prefix(1000).map(\.id)
    }

    private func open(
        _ asked: ProviderRequest,
        at endpoint: ProviderEndpoint,
        path: String
    ) async throws -> HTTPClientResponse {
        var message = HTTPClientRequest(url: "\(endpoint.url)\(path)\(asked.path)")
        message.method = .POST
        message.headers.add(name: "Content-Type", value: "application/json")
        message.headers.add(name: "Accept", value: "text/event-stream, application/x-ndjson, application/json")
        for (name, value) in asked.headers { message.headers.add(name: name, value: value) }
        message.body = .bytes(ByteBuffer(data: asked.body))
        return try await execute(message, at: endpoint)
    }

    private func execute(
        _ message: HTTPClientRequest,
        at endpoint: ProviderEndpoint
    ) async throws -> HTTPClientResponse {
        var message = message
        message.headers.add(name: "User-Agent", value: "pairtool")
        do {
            let response = try await http.execute(message, deadline: .now() + TimeAmount(limits.head))
            // Without the library's own logging: it is not for it to decide what of a request is secret.
            logger.debug(
                "answered",
                metadata: ["provider": "\(endpoint.provider.rawValue)", "status": "\(response.status.code)"]
            )
            return response
        } catch {
            throw unanswered(error, at: endpoint)
        }
    }
}

extension Provider {
    fileprivate func makeFormat() -> any ProviderFormat {
        switch self {
        case .openai: OpenAIFormat(provider: .openai)
        case .qwen: OpenAIFormat(provider: .qwen)
        case .anthropic: AnthropicFormat()
        case .gemini: GeminiFormat()
        case .ollama: OllamaFormat()
        }
    }
}
