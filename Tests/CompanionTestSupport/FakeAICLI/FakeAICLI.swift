package import CompanionWire
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL

/// A whole fake peer: an AICLI server of any generation, on real sockets, that can also misbehave.
///
/// It follows `protocols/aicli.md`. What it was sent is on record.
package struct FakeAICLI: Sendable {
    /// A frame as it arrived.
    package struct Frame: Sendable {
        package var type: String
        package var requestID: String
        package var data: JSONValue
        /// The id that the client gave itself (`x-device-id`); nil if it gave none.
        package var deviceID: String?
    }

    package let port: Int
    let state: FakeAICLIState

    /// `127.0.0.1:port`, which ``CompanionEndpoint`` reads.
    package var endpointText: String { "127.0.0.1:\(port)" }

    /// The content of its QR code: its URL, with the token.
    package var qrPayload: String { "\(certificate == nil ? "http" : "https")://\(endpointText)?token=\(token ?? "")" }

    /// The certificate that it shows in TLS; nil if it speaks plain HTTP.
    package let certificate: TestCertificate?

    /// The token that it wants now; nil if it wants none.
    package var token: String? { state.script.token }

    /// All HTTP requests so far, upgrades included.
    package var requests: [FakeMac.Request] { state.requests }

    /// All frames so far.
    package var frames: [Frame] { state.frames }

    /// The frames so far of this type.
    package func frames(_ type: String) -> [Frame] { frames.filter { $0.type == type } }

    /// The prompts that the agent got, in order.
    package var prompts: [String] { frames("claudeCommand").compactMap { $0.data["command"]?.string } }

    /// The sessions that there are: directories by their id.
    package var sessions: [String: String] { state.script.sessions }

    /// How many pings were answered with their own payload.
    package var pongs: Int { state.pongs }

    /// Changes what the server has and does from now on.
    package func change(_ body: @Sendable (inout FakeAICLIScript) -> Void) {
        state.change(body)
    }

    /// Lets a held turn go on.
    package func release(_ gate: String) {
        state.gates.open("release \(gate)")
    }

    /// Waits until a turn is held there.
    package func reached(_ gate: String) async throws {
        try await state.gates.pass("reached \(gate)")
    }

    /// Breaks all connections.
    package func resetAll() async {
        await state.resetAll()
    }

    /// Keeps a message of a session for whoever subscribes to it, as if it had been sent when nobody was there.
    ///
    /// - Parameters:
    ///   - age: How long ago.
    ///   - data: The members of the data.
    package func keep(_ type: String, _ data: String, sessionID: String, age: Duration) {
        state.keep(type, data, sessionID: sessionID, age: age)
    }
}

/// Runs `body` with a fake server that listens on loopback, and ends the server behind it.
///
/// - Parameters:
///   - port: Default: 0, any that is free.
///   - certificate: Nil, the default: it speaks no TLS.
package func withFakeAICLI<Result>(
    _ script: FakeAICLIScript = FakeAICLIScript(),
    port: Int = 0,
    certificate: TestCertificate? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (FakeAICLI) async throws -> Result
) async throws -> Result {
    let (jobs, sink) = AsyncStream<@Sendable () async -> Void>.makeStream()
    let state = FakeAICLIState(script: script, jobs: sink)
    let tls = try certificate?.serverContext()
    let accept: @Sendable (any Channel) throws -> FakeAICLIConnection = { channel in
        if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
        return try FakeAICLIConnection(channel: channel)
    }
    return try await withListener(port: port, accept: accept, serve: { await $0.serve(state) }) { port in
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Turns go on when the connections that began them are gone.
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for await job in jobs { group.addTask { await job() } }
                }
            }
            defer { group.cancelAll() }
            return try await body(FakeAICLI(port: port, state: state, certificate: certificate))
        }
    }
}
