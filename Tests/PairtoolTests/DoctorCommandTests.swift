import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// How the command takes the tool's own files and a mistyped interface.
@Suite struct DoctorCommandTests {
    @Test("Where the records of hosts are damaged, nobody is told to pair")
    func unreadableHosts() async throws {
        try await Sandbox.with { user in
            let directory = user.directory + "/data/pairtool"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Data("{bad".utf8).write(to: URL(filePath: directory + "/hosts.json"))
            let result = await user.run("doctor", "--json", "--interface", "lo", "--engine", "embedded")
            let host = try #require(try result.json.first { $0["check"]?.string == "host" })
            #expect(host["verdict"]?.string == "skipped" && host["advice"] == nil, "\(host)")
            #expect(try result.json.contains { $0["subject"]?.string?.hasSuffix("/hosts.json") == true })
        }
    }

    @Test("An interface that is not there is a mistake in the command line, not a trouble of the network")
    func interface() async throws {
        try await Sandbox.with { user in
            let result = await user.run("doctor", "--interface", "nope0", "--engine", "embedded")
            #expect(result.status == 2 && result.out.isEmpty, "\(result)")
            #expect(result.err.contains("no network interface nope0"), "\(result)")
        }
    }
}
