import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Providers
import Testing

@testable import pairtool

extension Sandbox {
    /// Where the tool keeps its data.
    var data: String { directory + "/data/pairtool" }

    /// Records a Lumi host as paired, without one that listens: what was pulled is all that these commands need.
    func recordLumiHost(id: String = "00ff00ff00ff00ff", name: String = "Studio") throws -> LumiStore {
        let host = PairedHost(
            id: id,
            name: name,
            family: .lumi,
            trust: .legacy,
            endpoint: try #require(CompanionEndpoint("127.0.0.1:47285")),
            deviceID: "0123456789abcdef",
            pairedAt: Date()
        )
        try PairedHostStore(directory: data).update { $0.record(host) }
        return LumiStore(data: data, hostID: id)
    }

    /// The same with an agent and a conversation that were pulled from it.
    func pullSample(provider: String = "OpenAI", name: String = "Ada") throws -> (LumiStore, LumiSample) {
        let sample = LumiSample()
        let store = try recordLumiHost()
        let agents = sample.agents(name: name).replacing(#""provider":"OpenAI""#, with: #""provider":"\#(provider)""#)
        try store.replace(.agents, with: Array("[\(agents)]".utf8))
        try store.replace(.conversations, with: Array("[\(sample.conversations)]".utf8))
        return (store, sample)
    }
}

extension FakeProviders {
    /// What leads the tool to these providers.
    func environment(key: String? = nil) -> [String: String] {
        var environment: [String: String] = [:]
        for provider in Provider.allCases {
            environment[provider.urlVariable] = url
            if let variable = provider.keyVariable, let key { environment[variable] = key }
        }
        return environment
    }
}
