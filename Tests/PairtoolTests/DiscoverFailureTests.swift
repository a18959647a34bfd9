import FoundationEssentials
import Testing

@testable import pairtool

/// How `discover` ends where there is no list.
@Suite(.timeLimit(.minutes(15))) struct DiscoverFailureTests {
    private static let here = ["discover", "--engine", "embedded", "--interface", "lo"]

    @Test("Where nobody is there, it says why", arguments: [["--json"], []])
    func nobody(words: [String]) async throws {
        try await Sandbox.with { user in
            let result = await user.run(Self.here + ["--type", "_pt-nobody._tcp"] + words)
            #expect(result.status == 3 && result.out.isEmpty, "\(result)")
            #expect(result.err.contains("no host was found"), "\(result)")
            #expect(
                words.isEmpty ? result.err.contains("next: see what may be") : result.failed(with: "discovery.none")
            )
            // A network without multicast is named instead.
            #expect(result.err.contains("pairtool host --lan") || result.err.contains(" → "), "\(result)")
        }
    }

    @Test("Records that cannot be read are told before the network is looked at")
    func unreadable() async throws {
        try await Sandbox.with { user in
            let data = user.directory + "/data/pairtool"
            try FileManager.default.createDirectory(
                atPath: data,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            try Data("{".utf8).write(to: URL(filePath: data + "/hosts.json"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: data + "/hosts.json")
            let result = await user.run(Self.here + ["--json"])
            #expect(result.status == 1, "\(result)")
            #expect(try result.errorCode == "hosts.unreadable")
        }
    }

    @Test("An interface that does not exist is a mistake in the command line")
    func interface() async throws {
        try await Sandbox.with { user in
            let result = await user.run("discover", "--interface", "nowhere0")
            #expect(result.status == 2 && result.err.contains("nowhere0"), "\(result)")
        }
    }
}
