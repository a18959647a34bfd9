import FoundationEssentials
import NIOConcurrencyHelpers

/// A whole fake peer: a Jarvis daemon on a real socket, that can also misbehave.
///
/// It follows `protocols/jarvis.md`. What it was sent is on record.
package struct FakeJarvis: Sendable {
    package let address: String
    package let port: Int
    let state: FakeJarvisState

    /// `127.0.0.1:port`, which an endpoint is read from.
    package var endpointText: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }

    /// All requests so far, in the order of their arrival.
    package var requests: [FakeMac.Request] { state.contents.withLockedValue(\.requests) }

    /// The requests of a method whose path begins so, without what every path begins with.
    package func requests(_ method: String, _ path: String) -> [FakeMac.Request] {
        requests.filter { $0.method == method && $0.path.hasPrefix("/api/v1\(path)") }
    }

    /// The approvals as the daemon has them now.
    package var approvals: [FakeJarvisApproval] { state.contents.withLockedValue(\.script.approvals) }

    /// The status of a request, as on the wire; nil if the daemon has no such request.
    package func status(of id: String) -> String? { approvals.first { $0.id == id }?.status }

    /// Changes what the daemon has and does from now on.
    package func change(_ body: @Sendable (inout FakeJarvisScript) -> Void) {
        state.contents.withLockedValue { body(&$0.script) }
    }

    /// Decides a request, as somebody at the daemon's own machine would.
    package func decide(_ id: String, _ status: String) {
        change { script in
            guard let index = script.approvals.firstIndex(where: { $0.id == id }) else { return }
            script.approvals[index].status = status
            script.approvals[index].resolvedAt = Self.time(Date())
        }
    }

    /// Lets a held answer go on.
    package func release(_ gate: String) {
        state.gates.open("release \(gate)")
    }

    /// Waits until an answer is held there.
    package func reached(_ gate: String) async throws {
        try await state.gates.pass("reached \(gate)")
    }

    /// Waits until a path behind `/api/v1` has been asked so many times.
    package func received(_ count: Int, _ method: String, _ path: String) async throws {
        try await state.gates.pass("\(method) /api/v1\(path) \(count)")
    }

    static func time(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

/// Runs `body` with a fake daemon, and ends it behind it.
///
/// - Parameters:
///   - address: The address at which it listens.
///   - port: Default: any free one.
package func withFakeJarvis<Result>(
    _ script: FakeJarvisScript = FakeJarvisScript(),
    address: String = "127.0.0.1",
    port: Int = 0,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (FakeJarvis) async throws -> Result
) async throws -> Result {
    let state = FakeJarvisState(script: script)
    return try await withListener(
        host: address,
        port: port,
        accept: FakeMacConnection.init,
        serve: { await $0.serve(state) }
    ) {
        try await body(FakeJarvis(address: address, port: $0, state: state))
    }
}
