import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

extension FakeMac {
    var endpoint: CompanionEndpoint {
        get throws { try #require(CompanionEndpoint(endpointText)) }
    }

    /// Runs `body` with a client of this host.
    func withClient<R>(
        _ configuration: CompanionClientConfiguration = .patient,
        _ body: (CompanionAPIClient) async throws -> R
    ) async throws -> R {
        try await CompanionAPIClient.withClient(endpoint: endpoint, configuration: configuration, body)
    }
}

/// Runs a host and a client of it.
func withPeers<R>(
    _ script: FakeMacScript = FakeMacScript(),
    _ configuration: CompanionClientConfiguration = .patient,
    _ body: (FakeMac, CompanionAPIClient) async throws -> R
) async throws -> R {
    try await withFakeMac(script) { mac in
        try await mac.withClient(configuration) { client in try await body(mac, client) }
    }
}

extension CompanionClientConfiguration {
    static let patient = CompanionClientConfiguration(timeouts: .patient)
}

extension CompanionClientConfiguration.Timeouts {
    /// Longer than users would wait: on a busy machine the other side of a test may be late.
    static let patient = CompanionClientConfiguration.Timeouts(connect: .seconds(60), request: .seconds(120))
}

/// The error that `body` throws.
func clientError<R>(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> R
) async throws -> CompanionClientError {
    var caught: CompanionClientError?
    do {
        let result = try await body()
        Issue.record("nothing was thrown, but returned: \(result)", sourceLocation: sourceLocation)
    } catch let error as CompanionClientError {
        caught = error
    }
    return try #require(caught, sourceLocation: sourceLocation)
}

extension FakeMacScript {
    /// Changes a copy of the default script.
    static func with(_ change: (inout FakeMacScript) -> Void) -> FakeMacScript {
        var script = FakeMacScript()
        change(&script)
        return script
    }

    static func turn(_ turn: FakeMacTurn) -> FakeMacScript { with { $0.turns = [turn] } }
}

extension ContinueChatRequest {
    static func prompt(_ text: String) -> ContinueChatRequest {
        ContinueChatRequest(prompt: text, projectPath: "/Users/ada/web", model: "gpt-test", allowedTools: [])
    }
}

/// A directory that is gone when the test is over.
func withTemporaryDirectory<R>(_ body: (String) async throws -> R) async throws -> R {
    let path = FileManager.default.temporaryDirectory.path + "/pairtool-test-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
