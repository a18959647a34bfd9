import NIOConcurrencyHelpers

/// A whole fake peer: a Mac with Lumi, of any generation and with its quirks, on a real socket, that can also
/// misbehave.
///
/// It follows `protocols/lumi.md`. What it was sent is on record.
package struct FakeLumi: Sendable {
    /// A command as it arrived.
    package struct Command: Sendable, Hashable {
        package var name: String
        package var parameters: [String: String]
        /// Whether the connection had been accepted.
        package var isApproved: Bool
    }

    package let address: String
    package let port: Int
    let state: FakeLumiState

    /// `127.0.0.1:port`.
    package var endpointText: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }

    /// All commands so far that could be read, in the order of their arrival.
    package var commands: [Command] { state.commands }

    /// The commands so far with this name.
    package func commands(_ name: String) -> [Command] { commands.filter { $0.name == name } }

    /// How many connections were made so far.
    package var connections: Int { state.connections }

    /// The script as it is now. Commands change it too, such as those that open an app.
    package var script: FakeLumiScript { state.script }

    /// Changes what the host has and does from now on.
    package func change(_ body: (inout FakeLumiScript) -> Void) {
        state.change(body)
    }

    /// Waits until the host has read this often from any connection.
    package func hasRead(_ count: Int) async throws {
        try await state.gates.pass("read \(count)")
    }

    /// Waits until a connection has ended; the first is 1.
    package func hasLost(connection number: Int) async throws {
        try await state.gates.pass("left \(number)")
    }

    /// Lets a held answer go.
    package func release(_ gate: String) {
        state.gates.open("release \(gate)")
    }

    /// Waits until an answer is held there.
    package func reached(_ gate: String) async throws {
        try await state.gates.pass("reached \(gate)")
    }
}

/// Runs `body` with a fake host, and ends the host behind it.
///
/// - Parameter port: The port at which it listens. Default: 0, any free port.
package func withFakeLumi<Result>(
    _ script: FakeLumiScript = FakeLumiScript(),
    address: String = "127.0.0.1",
    port: Int = 0,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (FakeLumi) async throws -> Result
) async throws -> Result {
    let state = FakeLumiState(script: script)
    return try await withListener(
        host: address,
        port: port,
        accept: FakeLumiConnection.init,
        serve: { await $0.serve(state) }
    ) {
        try await body(FakeLumi(address: address, port: $0, state: state))
    }
}
