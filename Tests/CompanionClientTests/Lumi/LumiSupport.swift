import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOCore
import NIOPosix
import Testing

extension FakeLumi {
    var endpoint: CompanionEndpoint {
        get throws { try #require(CompanionEndpoint(endpointText)) }
    }

    /// Runs `body` with a connection that the host has not accepted yet.
    func withConnection<R>(
        _ configuration: LumiConfiguration = .default,
        clock: any Clock<Duration> = ImmediateClock(),
        _ body: (LumiClient) async throws -> R
    ) async throws -> R {
        try await LumiClient.withClient(endpoint: endpoint, configuration: configuration, clock: clock, body)
    }
}

/// Runs a host and a connection to it that it has accepted.
func withLumi<R>(
    _ script: FakeLumiScript = FakeLumiScript(),
    _ configuration: LumiConfiguration = .default,
    _ body: (FakeLumi, LumiClient) async throws -> R
) async throws -> R {
    try await withFakeLumi(script) { host in
        try await host.withConnection(configuration) { client in
            _ = try await client.requestApproval(deviceName: "desk")
            return try await body(host, client)
        }
    }
}

extension FakeLumiScript {
    static func with(_ change: (inout FakeLumiScript) -> Void) -> FakeLumiScript {
        var script = FakeLumiScript()
        change(&script)
        return script
    }

    static func fault(_ kind: FakeLumiFault.Kind, on command: String = "get_volume", times: Int? = nil)
        -> FakeLumiScript
    {
        with { $0.faults = [FakeLumiFault(kind, on: command, times: times)] }
    }
}

/// A frame as it goes over the wire.
func lumiFrame(_ text: String) -> [UInt8] {
    let payload = Array(text.utf8)
    return withUnsafeBytes(of: UInt32(payload.count).bigEndian) { Array($0) } + payload
}
