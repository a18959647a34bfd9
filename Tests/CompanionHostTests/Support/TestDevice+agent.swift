import CompanionHost
import CompanionTestSupport

/// Runs a host with the fake agent, and a device that has paired with it.
///
/// - Parameter options: Of ``FakeACPAgent``.
func withFakeAgent(
    _ options: [String] = [],
    _ body: (TestHost, TestDevice) async throws -> Void
) async throws {
    try await withTemporaryDirectory { directory in
        let command = try FakeACPAgent.command(in: directory) + options
        try await withHostAndDevice(in: directory) {
            $0.agent = .acp(ACPLaunch(id: "fake", name: "Fake", command: command))
        } _: { host, device in
            try await device.pair()
            try await body(host, device)
        }
    }
}
