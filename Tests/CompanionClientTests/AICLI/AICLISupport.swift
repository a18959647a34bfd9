import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import History
import NIOConcurrencyHelpers
import Testing

extension FakeAICLI {
    var endpoint: CompanionEndpoint {
        get throws { try #require(CompanionEndpoint(endpointText)) }
    }
}

/// What a user has: a server, a client of it and a folder. Waits between connections are noted, and pass at once.
struct AICLIPeers: Sendable {
    let server: FakeAICLI
    var host: AICLIHost
    let folder: String
    let history: LocalHistory
    let waits: NIOLockedValueBox<[Duration]>

    var store: AICLIStore { host.store }

    /// Sends a prompt to the project `web` and gives all that is shown.
    ///
    /// - Parameter watch: Gets each output as it is shown.
    func send(
        _ prompt: String,
        to path: String = "/Users/ada/web",
        tools: [String]? = [],
        watch: (TurnEvent) -> Void = { _ in }
    ) async throws -> AICLIShown {
        let chatID = AICLISessionTable.chatID(for: path)
        let request = TurnRequest(prompt: prompt, projectPath: path, allowedTools: tools)
        var shown = AICLIShown()
        do {
            for try await output in host.turn(chatID: chatID, request: request) {
                shown.outputs.append(output)
                watch(output)
            }
        } catch let error as CompanionClientError {
            shown.error = error
        }
        return shown
    }

    /// The roles and texts of what was kept of the project `web`.
    func transcript(_ path: String = "/Users/ada/web") async throws -> [String] {
        let chatID = AICLISessionTable.chatID(for: path)
        let page = try await host.messagesPage(chatID: chatID, cursor: nil, limit: 200)
        return page.messages.elements.map { "\($0.role.rawValue): \($0.text)" }
    }
}

/// What a turn showed.
struct AICLIShown: Sendable {
    var outputs: [TurnEvent] = []
    var error: CompanionClientError?

    var text: String {
        outputs.compactMap { if case .text(let text) = $0 { text } else { nil } }.joined()
    }

    var notices: [String] {
        outputs.compactMap {
            switch $0 {
            case .status(let text), .recovering(let text): text
            default: nil
            }
        }
    }

    var tools: [String] {
        outputs.compactMap { if case .toolStart(let name, _) = $0 { name } else { nil } }
    }

    var summary: FinishedTurn? {
        if case .finished(let summary)? = outputs.last { summary } else { nil }
    }
}

/// Runs a server and a user of it.
func withAICLI<R>(
    _ script: FakeAICLIScript = FakeAICLIScript(),
    token: String?? = nil,
    timeouts: CompanionClientConfiguration.Timeouts = .patient,
    limits: CompanionClientConfiguration.Limits = CompanionClientConfiguration.Limits(),
    permissions: AICLIPermissionAnswering? = nil,
    certificate: TestCertificate? = nil,
    _ body: (AICLIPeers) async throws -> R
) async throws -> R {
    try await withFakeAICLI(script, certificate: certificate) { server in
        try await withTemporaryDirectory { folder in
            try await AICLIClient.withClient(
                endpoint: server.endpoint,
                security: try certificate.map { .pinned(try PinnedCertificate(der: $0.der)) } ?? .plain,
                token: token ?? server.token,
                deviceID: "0123456789abcdef",
                configuration: CompanionClientConfiguration(timeouts: timeouts, limits: limits)
            ) { client in
                let store = AICLIStore(data: folder, hostID: "feedfacefeedface")
                let waits = NIOLockedValueBox<[Duration]>([])
                var host = AICLIHost(client: client, store: store, permissions: permissions)
                host.runner.pause = { wait in waits.withLockedValue { $0.append(wait) } }
                host.runner.configuration.random = { 0 }
                // On a busy machine a host's first words may take a while.
                host.runner.configuration.welcome = .seconds(60)
                host.runner.configuration.greeting = .seconds(60)
                let history = LocalHistory(path: "\(folder)/history.db", limits: HistoryLimits()) {
                    Issue.record("\($0)")
                }
                let named = HistoryHost(id: "feedfacefeedface", name: "server", family: .aicli)
                host = host.recorded(by: HistoryRecorder(history, host: named, now: { Date() }))
                let result = try await body(
                    AICLIPeers(server: server, host: host, folder: folder, history: history, waits: waits)
                )
                await history.finish(at: Date())
                return result
            }
        }
    }
}

extension FakeAICLIScript {
    /// Changes a copy of the default script.
    static func with(_ change: (inout FakeAICLIScript) -> Void) -> FakeAICLIScript {
        var script = FakeAICLIScript()
        change(&script)
        return script
    }

    static func turns(_ turns: FakeAICLITurn...) -> FakeAICLIScript { with { $0.turns = turns } }

    /// - Parameter rest: The turns of the prompts.
    static func fault(_ fault: FakeAICLIFault, _ rest: FakeAICLITurn...) -> FakeAICLIScript {
        with {
            $0.faults = [fault]
            $0.turns = rest
        }
    }
}
