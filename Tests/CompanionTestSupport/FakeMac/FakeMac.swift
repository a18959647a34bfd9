package import CompanionWire
import NIOConcurrencyHelpers

/// A whole fake peer: a host of protocol v1, bugs included, on a real socket, that can also misbehave.
///
/// It follows `protocols/copilotforge-v1.md`. What it was sent is on record.
package struct FakeMac: Sendable {
    /// A request as it arrived.
    package struct Request: Sendable {
        package var method: String
        /// Path and query, as on the wire.
        package var target: String
        package var headers: [(name: String, value: String)]
        package var body: [UInt8]

        /// The target without its query.
        package var path: String { String(target.prefix { $0 != "?" }) }

        package var text: String { String(decoding: body, as: UTF8.self) }

        /// The first header with this name in any case; nil if there is none.
        package func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    package let address: String
    package let port: Int
    let state: FakeMacState

    /// `127.0.0.1:port`, which ``CompanionEndpoint`` reads.
    package var endpointText: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }

    /// All requests so far, in the order of their arrival.
    package var requests: [Request] { state.requests }

    /// The requests so far with this method and path, whatever their query is.
    package func requests(_ method: String, _ path: String) -> [Request] {
        requests.filter { $0.method == method && $0.path == path }
    }

    /// How often a prompt was sent.
    package var prompts: Int { requests.count { $0.method == "POST" && $0.path.hasSuffix("/continue") } }

    /// Changes what the host has and does from now on.
    package func change(_ body: @Sendable (inout FakeMacScript) -> Void) {
        state.change(body)
    }

    /// The messages of a chat as the host has them now.
    package func messages(of chatID: String) -> [CompanionMessage] {
        state.messages(of: chatID)
    }

    /// Restarts the host's program, which keeps its messages: a turn that runs is lost, and the account has to sign in
    /// again (`script.isSignedIn`). A fault or a step of the turn has to cut the connections.
    package func restart() {
        state.restart()
    }

    /// Connects another device in place of the one that is connected.
    package func connect(name: String) {
        state.connect(name: name)
    }

    /// Lets a held turn or a stalled answer go on.
    package func release(_ gate: String) {
        state.gates.open("release \(gate)")
    }

    /// Waits until a turn or an answer is held there.
    package func reached(_ gate: String) async throws {
        try await state.gates.pass("reached \(gate)")
    }
}

/// Runs `body` with a fake host that listens on a free port, and ends the host behind it.
///
/// - Parameters:
///   - address: The address at which it listens, a zone included (`fe80::1%eth0`).
///   - port: Default: 0, any that is free. An earlier one's, for a host that comes back.
package func withFakeMac<Result>(
    _ script: FakeMacScript = FakeMacScript(),
    address: String = "127.0.0.1",
    port: Int = 0,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (FakeMac) async throws -> Result
) async throws -> Result {
    let state = FakeMacState(script: script)
    return try await withListener(
        host: address,
        port: port,
        accept: FakeMacConnection.init,
        serve: { await $0.serve(state) }
    ) {
        try await body(FakeMac(address: address, port: $0, state: state))
    }
}
