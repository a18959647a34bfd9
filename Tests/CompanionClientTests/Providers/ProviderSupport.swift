import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Providers
import Testing

extension FakeProviders {
    /// Where the fake has a provider.
    func endpoint(_ provider: Provider, key: ProviderKey? = nil) throws -> ProviderEndpoint {
        let path = provider == .openai ? "/v1" : ""
        return ProviderEndpoint(provider: provider, url: try ProviderURL(url + path, provider: provider), key: key)
    }

    /// The body of the last request, as JSON.
    var lastBody: JSONObject {
        get throws { try JSONObject(try #require(requests.last).body) }
    }
}

/// A JSON object to look into.
struct JSONObject {
    private let value: JSONValue

    init(_ bytes: [UInt8]) throws {
        value = try #require(JSONValue(lenient: bytes))
    }

    /// `messages.0.content`.
    private func value(at path: String) -> JSONValue? {
        path.split(separator: ".").reduce(value) { value, step in
            guard let index = Int(step) else { return value?[String(step)] }
            return value?.array?.dropFirst(index).first
        }
    }

    func text(_ path: String) -> String? { value(at: path)?.string }
    func number(_ path: String) -> Double? { value(at: path)?.number }
    func count(_ path: String) -> Int? { value(at: path)?.array?.count }
}

/// A key that is made for the test.
func madeKey() throws -> ProviderKey {
    try #require(ProviderKey(madeKeyText()))
}

extension ProviderPrompt {
    static func asking(_ text: String, temperature: Double? = nil, images: [TurnImage] = []) -> ProviderPrompt {
        ProviderPrompt(
            model: "model-1",
            system: "Be brief.",
            temperature: temperature,
            messages: [.init(isFromUser: true, text: text, images: images)]
        )
    }
}

/// What comes of a prompt to a fake.
struct Asked: Sendable {
    var text = ""
    var events: [ProviderEvent] = []
    var error: ProviderError?
}

/// Asks a provider, and keeps what came even if it failed.
func ask(
    _ prompt: ProviderPrompt = .asking("Why?"),
    _ endpoint: ProviderEndpoint,
    limits: ProviderClient.Limits = ProviderClient.Limits()
) async throws -> Asked {
    let asked = NIOLockedValueBox(Asked())
    do {
        try await ProviderClient.withClient(limits: limits) { client in
            try await client.answer(prompt, from: endpoint) { event in
                asked.withLockedValue { asked in
                    asked.events.append(event)
                    if case .text(let text) = event { asked.text += text }
                }
            }
        }
    } catch let error as ProviderError {
        asked.withLockedValue { $0.error = error }
    }
    return asked.withLockedValue(\.self)
}

/// The beginning of a PNG, which is enough to be known by.
let smallPNG: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 1, 2, 3]
