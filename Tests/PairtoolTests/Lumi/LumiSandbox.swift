import CompanionTestSupport
import FoundationEssentials
import Testing

extension Sandbox {
    /// Pairs with a fake Lumi host as `desk`, so that it is the default host.
    func pair(_ host: FakeLumi) async {
        let result = await run(
            ["pair", "--family", "lumi", "--url", host.endpointText, "--allow-legacy", "--name", "desk"]
        )
        #expect(result.status == 0, "\(result.err)")
    }

    /// The directory of what was pulled from the only Lumi host.
    var pulled: String {
        get throws {
            let root = directory + "/data/pairtool/lumi"
            return root + "/" + (try #require(try FileManager.default.contentsOfDirectory(atPath: root).first))
        }
    }
}

/// Runs a Lumi host, and a user who has paired with it.
func withPairedLumi<R>(
    _ script: FakeLumiScript = FakeLumiScript(),
    _ body: (FakeLumi, Sandbox) async throws -> R
) async throws -> R {
    try await withFakeLumi(script) { host in
        try await Sandbox.with { user async throws in
            await user.pair(host)
            return try await body(host, user)
        }
    }
}
