import FoundationEssentials
import NIOConcurrencyHelpers
import NIOCore

/// Fake providers at one address: OpenAI (and Qwen), Anthropic, Gemini and Ollama, each at the paths of its interface,
/// that stream as they do and can also fail as they do. What they were sent is on record.
package struct FakeProviders: Sendable {
    /// The pieces of the answer when no other reply is prepared.
    package static let usualAnswer = ["Sow it in a row, ", "thin the seedlings, ", "and water in the morning. 🌱"]

    package let port: Int
    let state: FakeProvidersState

    /// `http://127.0.0.1:port`.
    package var url: String { "http://127.0.0.1:\(port)" }

    /// The requests so far, in the order of their arrival, without those that were answered with the list of models.
    package var requests: [FakeMac.Request] { state.contents.withLockedValue(\.requests) }

    /// Sets the models that `GET /models` lists. Nil, as at first: there is no such path.
    package func list(models: [String]?) {
        state.contents.withLockedValue { $0.models = models }
    }

    /// Answers the next prompts so, in this order; then as at first.
    package func reply(_ replies: FakeProviderReply...) {
        state.contents.withLockedValue { $0.replies += replies }
    }

    /// Waits until a connection has ended, the first one that does.
    package func connectionEnded() async throws {
        try await state.gates.pass("left")
    }
}

/// Makes a text that looks like a key of a provider, for one test.
package func madeKeyText() -> String { "test-" + UUID().uuidString.lowercased() }

/// Runs `body` with fake providers that listen on a free port of this machine, and ends them behind it.
///
/// - Parameter key: The only key that is accepted, except at Ollama, which needs none. Nil: all requests are answered.
package func withFakeProviders<Result>(
    key: String? = nil,
    port: Int = 0,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (FakeProviders) async throws -> Result
) async throws -> Result {
    let state = FakeProvidersState(key: key)
    return try await withListener(
        port: port,
        accept: { channel -> FakeMacConnection in
            channel.closeFuture.whenComplete { _ in state.gates.open("left") }
            return try FakeMacConnection(channel: channel)
        },
        serve: { await $0.serve(state) }
    ) {
        try await body(FakeProviders(port: $0, state: state))
    }
}

/// The state of the fake providers, behind a lock.
final class FakeProvidersState: ConnectionAnswering {
    struct Contents: Sendable {
        var requests: [FakeMac.Request] = []
        var replies: [FakeProviderReply] = []
        var models: [String]?
    }

    let gates = Gates()
    let contents = NIOLockedValueBox(Contents())
    private let key: String?

    init(key: String?) {
        self.key = key
    }

    func answer(to request: FakeMac.Request) -> [FakeMacAction] {
        if request.method == "GET", request.path.hasSuffix("/models"),
            let models = contents.withLockedValue(\.models)
        {
            let items = models.map { #"{"id":\#(JSONText.quoted($0)),"object":"model"}"# }.joined(separator: ",")
            return whole(200, [], #"{"object":"list","data":[\#(items)]}"#)
        }
        let reply = contents.withLockedValue { contents in
            contents.requests.append(request)
            return contents.replies.isEmpty ? nil : contents.replies.removeFirst()
        }
        guard let dialect = FakeProviderDialect(path: request.path), request.method == "POST" else {
            return whole(404, [], #"{"error":{"message":"no such path"}}"#)
        }
        let sent = Self.key(in: request, dialect)
        if let key, dialect != .ollama, sent != key {
            return whole(dialect.status(of: .key), [], dialect.body(of: .key, key: sent))
        }
        return actions(reply ?? .answer(FakeProviders.usualAnswer), dialect, sent)
    }

    /// The key, where the provider looks for it.
    private static func key(in request: FakeMac.Request, _ dialect: FakeProviderDialect) -> String? {
        switch dialect {
        case .anthropic: request.header("x-api-key")
        case .gemini: request.header("x-goog-api-key")
        case .openai, .ollama:
            request.header("Authorization").flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
        }
    }

    private func actions(
        _ reply: FakeProviderReply,
        _ dialect: FakeProviderDialect,
        _ key: String?
    ) -> [FakeMacAction] {
        func pieces(_ texts: [String]) -> String { texts.map(dialect.piece).joined() }
        func stream(_ text: String) -> [FakeMacAction] { [head(dialect)] + chunks(text) + [.send("0\r\n\r\n")] }
        switch reply {
        case .answer(let texts): return stream(dialect.begin() + pieces(texts) + dialect.end())
        case .drip(let texts):
            let text = dialect.begin() + pieces(texts) + dialect.end()
            return [head(dialect), .drip(Array(Self.chunk(text).utf8)), .send("0\r\n\r\n")]
        case .held(let first, let gate, let rest):
            return [head(dialect)] + chunks(dialect.begin() + pieces(first)) + [.hold(gate)]
                + chunks(pieces(rest) + dialect.end()) + [.send("0\r\n\r\n")]
        case .cut(let texts, let isReset):
            let end: FakeMacAction = isReset ? .reset : .close
            return [head(dialect)] + chunks(dialect.begin() + pieces(texts)) + [end]
        case .unfinished(let texts): return stream(dialect.begin() + pieces(texts))
        case .failing(let texts, let fault):
            return stream(dialect.begin() + pieces(texts) + dialect.failure(fault, key: key))
        case .limited(let texts): return stream(dialect.begin() + pieces(texts) + dialect.end(isLimited: true))
        case .blocked: return stream(dialect.begin() + dialect.blocked())
        case .silence(let gate): return [.hold(gate), .close]
        case .fault(let fault): return whole(dialect.status(of: fault), [], dialect.body(of: fault, key: key))
        case .status(let status, let headers, let body): return whole(status, headers, body)
        case .stream(let text): return stream(text)
        case .endless(let text): return [head(dialect), .endless(Array(Self.chunk(text).utf8))]
        case .bytes(let text): return [.send(text), .close]
        }
    }

    private func head(_ dialect: FakeProviderDialect) -> FakeMacAction {
        .send("HTTP/1.1 200 OK\r\nContent-Type: \(dialect.contentType)\r\nTransfer-Encoding: chunked\r\n\r\n")
    }

    private func chunks(_ text: String) -> [FakeMacAction] {
        text.isEmpty ? [] : [.send(Self.chunk(text))]
    }

    private static func chunk(_ text: String) -> String {
        "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n"
    }

    private func whole(_ status: Int, _ headers: [(name: String, value: String)], _ body: String) -> [FakeMacAction] {
        let lines = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        return [
            .send(
                "HTTP/1.1 \(status) Status\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "\(lines)\r\n\(body)"
            )
        ]
    }
}
