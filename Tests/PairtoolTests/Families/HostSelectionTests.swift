import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Testing

@testable import CompanionApp
@testable import pairtool

@Suite struct HostSelectionTests {
    private func hosts(_ families: [HostFamily], usual: Int?) throws -> PairedHosts {
        var hosts = PairedHosts()
        for (number, family) in families.enumerated() {
            hosts.record(
                PairedHost(
                    id: "feed000\(number)feed000\(number)",
                    name: "host \(number)",
                    family: family,
                    trust: .legacy,
                    endpoint: try #require(
                        CompanionEndpoint("127.0.0.\(number + 1):\(family.behavior.facts.usualPort)")
                    ),
                    deviceID: "d",
                    pairedAt: Date(timeIntervalSince1970: 0)
                )
            )
        }
        hosts.defaultID = usual.map { hosts.hosts[$0].id }
        return hosts
    }

    private func error(_ word: String?, _ family: HostFamily, _ hosts: PairedHosts) throws -> AppError {
        try #require(
            #expect(throws: AppError.self) {
                try PairedHostSelection.select(word, of: family, for: "such things", in: hosts)
            }
        )
    }

    @Test("Unnamed, it is the default host, else the only one of the family, else the user has to say which")
    func unnamed() throws {
        let mixed = try hosts([.copilotforge, .lumi, .aicli, .aicli], usual: 0)
        #expect(try PairedHostSelection.select(nil, of: .lumi, for: "", in: mixed).name == "host 1")
        #expect(try PairedHostSelection.select(nil, of: .copilotforge, for: "", in: mixed).name == "host 0")
        #expect(try error("", .lumi, mixed).message == "the name of the host is empty")
        let several = try error(nil, .aicli, mixed)
        #expect(several.code == "host.ambiguous" && several.kind == .usage)
        #expect(several.message.contains("several AICLI hosts") && several.message.contains("host 3"))
        #expect(try error(nil, .jarvis, mixed).code == "host.cannot")
        for none in [try hosts([.copilotforge, .lumi], usual: nil), PairedHosts()] {
            let missing = try error(nil, .aicli, none)
            #expect(missing.code == "host.none_paired" && missing.kind == .notPaired, "\(missing)")
        }
    }

    @Test("An address means the host on record there, of whatever family it is")
    func addresses() throws {
        let mixed = try hosts([.copilotforge, .lumi], usual: 0)
        #expect(try PairedHostSelection.select("127.0.0.2", of: .lumi, for: "", in: mixed).name == "host 1")
        #expect(try error("127.0.0.1", .lumi, mixed).code == "host.cannot")
        #expect(try error("127.0.0.2:1", .lumi, mixed).code == "host.unknown")
        #expect(try error("127.0.0.9", .lumi, mixed).code == "host.unknown")
    }
}
