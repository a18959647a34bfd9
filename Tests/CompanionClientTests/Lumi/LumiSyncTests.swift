import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import CompanionClient

@Suite struct LumiSyncTests {
    /// Pulls once, with a connection of its own.
    private func pull(
        _ host: FakeLumi,
        into directory: String,
        withKeys: Bool = false,
        pulledMark: Int64? = nil,
        limits: LumiConfiguration = .default
    ) async throws -> [LumiSyncFile: LumiSync.Outcome] {
        try await host.withConnection(limits) { client in
            _ = try await client.requestApproval(deviceName: "desk")
            let sync = LumiSync(store: LumiStore(directory: directory), withKeys: withKeys, pulledMark: pulledMark)
            let items = try await sync.run(client)
            return Dictionary(uniqueKeysWithValues: items.map { ($0.file, $0.outcome) })
        }
    }

    private func bytes(_ directory: String, _ file: LumiSyncFile) throws -> [UInt8]? {
        try PrivateFile.read("\(directory)/\(file.name)")
    }

    @Test func `files are kept as they came, for their owner only, and keys are not asked for`() async throws {
        try await withFakeLumi { host in
            try await withTemporaryDirectory { directory in
                let outcomes = try await pull(host, into: directory)
                for file in [LumiSyncFile.agents, .conversations, .automations] {
                    let expected = host.script.files[file.name]
                    #expect(outcomes[file] == .stored(bytes: expected?.count ?? 0))
                    #expect(try bytes(directory, file) == expected)
                    #expect(FileStatus("\(directory)/\(file.name)")?.permissions == 0o600)
                }
                #expect(outcomes[.settings] == .leftOut)
                #expect(outcomes[.apiKeys] == .leftOut)
                #expect(outcomes[.health] == .missing)
                let asked = host.commands("get_sync_data").compactMap { $0.parameters["file"] }
                #expect(Set(asked) == ["agents.json", "conversations.json", "automations.json", "health_data.json"])
                #expect(host.commands("push_sync_data").isEmpty)
            }
        }
    }

    @Test func `with keys all is pulled, and no key is in a log or a description`() async throws {
        try await withFakeLumi { host in
            try await withTemporaryDirectory { directory in
                let log = NIOLockedValueBox("")
                var logger = Logger(label: "test") { _ in CollectingHandler(text: log) }
                logger.logLevel = .trace
                let store = LumiStore(directory: directory)
                let items = try await LumiClient.withClient(
                    endpoint: host.endpoint,
                    clock: ImmediateClock(),
                    logger: logger
                ) { client in
                    _ = try await client.requestApproval(deviceName: "desk")
                    return try await LumiSync(store: store, withKeys: true).run(client)
                }
                #expect(items.count { if case .stored = $0.outcome { true } else { false } } == 5)
                #expect(FileStatus(store.path(of: .apiKeys))?.permissions == 0o600)
                let secret = String(decoding: host.script.files["sync_api_keys.json"] ?? [], as: UTF8.self)
                    .split(separator: "\"").first { $0.hasPrefix("fake-") }
                let key = String(try #require(secret))
                #expect(!log.withLockedValue(\.self).contains(key))
                #expect(!"\(items)".contains(key))
                let kept = try PrivateFile.read(store.path(of: .apiKeys)) ?? []
                #expect(String(decoding: kept, as: UTF8.self).contains(key))
            }
        }
    }

    @Test func `a file that is no JSON, or of another shape, leaves the one from before alone`() async throws {
        try await withFakeLumi { host in
            try await withTemporaryDirectory { directory in
                _ = try await pull(host, into: directory)
                let before = host.script.files
                host.change {
                    $0.files["agents.json"] = Array("{\"items\":[".utf8)
                    $0.files["automations.json"] = Array("\"text\"".utf8)
                    $0.files["conversations.json"] = Array("[]".utf8)
                }
                let outcomes = try await pull(host, into: directory)
                guard case .failed(let reason)? = outcomes[.agents] else { return #expect(Bool(false), "\(outcomes)") }
                #expect(reason.contains("agents.json"))
                #expect(try bytes(directory, .agents) == before["agents.json"])
                #expect(try bytes(directory, .automations) == before["automations.json"])
                #expect(outcomes[.conversations] == .stored(bytes: 2), "the others are pulled all the same")
            }
        }
    }

    static let tricks = [
        "../../x", "FOLDER/x", "agents.json/../../../x", "..", "", "sync_api_keys.json", #"x\u0000/../../x"#,
        #"..\\..\\x"#,
    ]

    @Test(arguments: tricks) func `no name that a Mac gives becomes a path`(_ name: String) async throws {
        let content = FakeLumiScript.exampleFiles()["agents.json"] ?? []
        try await withFakeLumi { host in
            try await withTemporaryDirectory { directory in
                let answer = """
                    {"id":"ID","success":true,\
                    "result":"Sync data for \(name.replacing("FOLDER", with: directory))|updatedAt:1",\
                    "imageData":"\(Data(content).base64EncodedString())"}
                    """
                host.change { $0.faults = [FakeLumiFault(.payload(answer), on: "get_sync_data", times: 1)] }
                let outcomes = try await pull(host, into: directory + "/lumi/host")
                // What was asked for first, whatever the answer calls it.
                #expect(outcomes[.agents] == .stored(bytes: content.count))
                let files = try FileManager.default.subpathsOfDirectory(atPath: directory)
                let names = ["agents.json", "automations.json", "conversations.json"].map { "lumi/host/\($0)" }
                #expect(Set(files) == Set(["lumi", "lumi/host"] + names))
            }
        }
    }

    @Test func `what has not changed is not written again`() async throws {
        try await withFakeLumi { host in
            try await withTemporaryDirectory { directory in
                _ = try await pull(host, into: directory)
                var outcomes = try await pull(host, into: directory)
                #expect(outcomes[.agents] == .unchanged(bytes: host.script.files["agents.json"]?.count ?? 0))
                // The conversations have been moved since.
                let content = host.script.files["conversations.json"] ?? []
                let store = LumiStore(directory: directory)
                try FileManager.default.removeItem(atPath: store.path(of: .conversations))
                outcomes = try await pull(host, into: directory, pulledMark: LumiStore.mark(of: content))
                #expect(outcomes[.conversations] == .unchanged(bytes: content.count))
                outcomes = try await pull(host, into: directory, pulledMark: 1)
                #expect(outcomes[.conversations] == .stored(bytes: content.count))
            }
        }
    }

    @Test func `a connection that breaks loses nothing of what is there`() async throws {
        let fault = FakeLumiFault(.reset, on: "get_sync_data", times: 1, skip: 1)
        try await withFakeLumi(.with { $0.faults = [fault] }) { host in
            try await withTemporaryDirectory { directory in
                let outcomes = try await pull(host, into: directory)
                guard case .stored? = outcomes[.agents], case .failed? = outcomes[.automations] else {
                    return #expect(Bool(false), "\(outcomes)")
                }
                #expect(outcomes[.conversations] == .notReached)
                #expect(outcomes[.settings] == .leftOut)
                #expect(host.connections == 1)
                #expect(try bytes(directory, .agents) == host.script.files["agents.json"])
            }
        }
    }

    @Test func `a file that does not come in time is not the end of the others`() async throws {
        let fault = FakeLumiFault(.silence, on: "get_sync_data", times: 1)
        try await withFakeLumi(.with { $0.faults = [fault] }) { host in
            try await withTemporaryDirectory { directory in
                let outcomes = try await pull(host, into: directory, limits: .init(sync: .seconds(5)))
                guard case .failed? = outcomes[.agents], case .stored? = outcomes[.conversations] else {
                    return #expect(Bool(false), "\(outcomes)")
                }
            }
        }
    }

    @Test func `conversations over what a frame holds cost no other file`() async throws {
        let large = Array(#"{"items":[],"padding":"\#(String(repeating: "a", count: 7 << 20))"}"#.utf8)
        try await withFakeLumi(.with { $0.files["conversations.json"] = large }) { host in
            try await withTemporaryDirectory { directory in
                let outcomes = try await host.withConnection { client in
                    _ = try await client.requestApproval(deviceName: "desk")
                    return try await LumiSync(store: LumiStore(directory: directory), withKeys: true).run(client)
                }
                let failed = outcomes.filter { if case .failed = $0.outcome { true } else { false } }
                #expect(failed.map(\.file) == [.conversations])
                #expect(outcomes.last?.file == .conversations)
            }
        }
    }

    @Test func `bare lists of older Macs and the sixth file of newer ones are taken`() async throws {
        let script = FakeLumiScript.with {
            $0.files = FakeLumiScript.exampleFiles(isBare: true)
            $0.files["health_data.json"] = Array(#"{"steps":[]}"#.utf8)
        }
        try await withFakeLumi(script) { host in
            try await withTemporaryDirectory { directory in
                let outcomes = try await pull(host, into: directory)
                #expect(outcomes[.health] == .stored(bytes: 12))
                let agents = try LumiStore(directory: directory).loadAgents()
                #expect(agents?.items.map(\.name) == ["Writer", "Reviewer", "Local"])
            }
        }
    }

    @Test func `a host without sync says so when it is asked, and is asked once`() async throws {
        let script = FakeLumiScript.with {
            $0.generation = .open
            $0.hasSync = false
        }
        try await withFakeLumi(script) { host in
            try await withTemporaryDirectory { directory in
                let error = try await clientError { try await pull(host, into: directory) }
                #expect(error.code == .unsupportedVersion)
                #expect(host.commands.map(\.name) == ["ping", "get_sync_data"])
            }
        }
    }

    @Test(arguments: [FakeLumiScript.Generation.open, .approval])
    func `a host that says pong at once has sync like any other`(generation: FakeLumiScript.Generation) async throws {
        let script = FakeLumiScript.with {
            $0.generation = generation
            $0.user = .accepts(atPing: 1)
        }
        try await withFakeLumi(script) { host in
            try await withTemporaryDirectory { directory in
                let outcomes = try await pull(host, into: directory)
                guard case .stored = outcomes[.agents] else {
                    Issue.record("\(outcomes)")
                    return
                }
            }
        }
    }
}

/// Keeps what is logged.
private struct CollectingHandler: LogHandler {
    let text: NIOLockedValueBox<String>
    var logLevel = Logger.Level.trace
    var metadata = Logger.Metadata()

    init(text: NIOLockedValueBox<String>) { self.text = text }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        text.withLockedValue { $0 += "\(event.message) \(event.metadata ?? [:])\n" }
    }
}
