import CompanionWire
import Discovery
import Dispatch
import Testing

/// Addresses of machines by their mDNS names.
@Suite(.serialized, .timeLimit(.minutes(15))) struct HostNameQueryTests {
    @Test("The address that a machine gives for its name is found")
    func answered() async throws {
        // The peer answers questions that hold the label of its type.
        let type = try #require(ServiceType("_raw-name._tcp"))
        try await RawResponder.run(type, .init(instance: Array("x".utf8), target: "_raw-name")) {
            #expect(await Self.addresses("_raw-name.local", limit: .seconds(60)).map(\.description) == ["127.0.0.1"])
        }
    }

    @Test(
        "A name that nobody has gives nothing, after the limit",
        arguments: ["nobody-has-this.local", "", "a..local"]
    )
    func unanswered(name: String) async {
        #expect(await Self.addresses(name, limit: .milliseconds(600)).isEmpty)
    }

    private static func addresses(_ name: String, limit: Duration) async -> [IPAddress] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: HostNameQuery.addresses(of: name, interface: "lo", limit: limit)
                )
            }
        }
    }
}
