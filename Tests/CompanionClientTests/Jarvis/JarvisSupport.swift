import CompanionClient
import CompanionTestSupport
import CompanionWire
import Testing

/// Runs a daemon and a client of it.
func withJarvis<R>(
    _ script: FakeJarvisScript = FakeJarvisScript(),
    _ configuration: CompanionClientConfiguration = .patient,
    _ body: (FakeJarvis, JarvisClient) async throws -> R
) async throws -> R {
    try await withFakeJarvis(script) { jarvis in
        let endpoint = try #require(CompanionEndpoint(jarvis.endpointText))
        return try await JarvisClient.withClient(endpoint: endpoint, configuration: configuration) { client in
            try await body(jarvis, client)
        }
    }
}

extension FakeJarvisScript {
    static func with(_ change: (inout FakeJarvisScript) -> Void) -> FakeJarvisScript {
        var script = FakeJarvisScript()
        change(&script)
        return script
    }

    static func fault(_ kind: FakeJarvisFault.Kind, on path: String = "/", times: Int? = nil) -> FakeJarvisScript {
        with { $0.faults = [FakeJarvisFault(kind, on: path, times: times)] }
    }
}

extension JarvisApprovalID {
    static let deploy = JarvisApprovalID(FakeJarvisScript.deploy)!
    static let mail = JarvisApprovalID(FakeJarvisScript.mail)!
    static let cleanup = JarvisApprovalID(FakeJarvisScript.cleanup)!
}

/// The decision error that `body` throws.
func decisionError<R>(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> R
) async throws -> JarvisDecisionError {
    var caught: JarvisDecisionError?
    do {
        let result = try await body()
        Issue.record("nothing was thrown, but returned: \(result)", sourceLocation: sourceLocation)
    } catch let error as JarvisDecisionError {
        caught = error
    }
    return try #require(caught, sourceLocation: sourceLocation)
}
