import CompanionTestSupport
import Testing

extension Sandbox {
    /// Records a fake daemon, so that it is the default host.
    func pair(_ jarvis: FakeJarvis, _ more: String...) async {
        let result = await run(
            ["pair", "--family", "jarvis", "--url", "http://\(jarvis.endpointText)", "--allow-legacy"] + more
        )
        #expect(result.status == 0, "\(result.err)")
    }
}

/// Runs a daemon and a user who has recorded it.
func withPairedJarvis(
    _ script: FakeJarvisScript = FakeJarvisScript(),
    _ body: (FakeJarvis, Sandbox) async throws -> Void
) async throws {
    try await withFakeJarvis(script) { jarvis in
        try await Sandbox.with { user in
            await user.pair(jarvis)
            try await body(jarvis, user)
        }
    }
}
