import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import Testing

@testable import CompanionApp
@testable import Doctor
@testable import pairtool

@Suite struct DoctorTests {
    @Test(
        "Text has a verdict, a check, the evidence and what to do; colour only where it is asked for, and no control character of a peer"
    )
    func text() {
        let finding = Finding.problem(
            .host,
            about: "Ev\u{1B}[2Jil",
            evidence: "at 10.0.0.1:7878",
            advice: .reach,
            values: ["HOST": "Evil\u{202E}"]
        )
        #expect(
            finding.text(colour: false, columns: nil) == """
                problem  host         Ev␛[2Jil: at 10.0.0.1:7878
                         → Check that Evil\u{FFFD} is on and on this network: pairtool discover --probe

                """
        )
        #expect(finding.text(colour: true, columns: nil).hasPrefix("\u{1B}[31mproblem \u{1B}[0m host"))
    }

    @Test("A legacy host: this device is connected, then superseded by another one; the built binary says so")
    func superseded() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                try await Sandbox.with { other in
                    await user.pair(mac)
                    let well = try await user.spawn(Self.command)
                    // What others advertise on `lo` meanwhile is theirs: the whole is looked at in a network of its
                    // own.
                    let verdicts = try Self.verdicts(well)
                    #expect(verdicts["host"] == "ok" && verdicts["pairing"] == "ok", "\(verdicts)")
                    let endpoint = try #require(CompanionEndpoint(mac.endpointText))
                    try await CompanionAPIClient.withClient(endpoint: endpoint) { _ = try await $0.startPairing() }
                    await other.pair(mac)
                    let superseded = try await user.spawn(Self.command)
                    #expect(superseded.status == 1)
                    #expect(try Self.verdicts(superseded)["pairing"] == "problem")
                    #expect(try superseded.errorCode == "doctor.not_well", "\(superseded.err)")
                    #expect(superseded.out.contains("this device was replaced by desk"))
                    #expect(superseded.out.contains("Pair this device again: pairtool pair"))
                }
            }
        }
    }

    @Test("A host whose clock is wrong, whose account is not signed in; the built binary says so")
    func wrongClock() async throws {
        var script = FakeMacScript()
        script.clockSkew = .seconds(900)
        script.isSignedIn = false
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let result = try await user.spawn(Self.command)
                #expect(result.status == 1)
                let verdicts = try Self.verdicts(result)
                #expect(verdicts["clock"] == "problem" && verdicts["sign-in"] == "problem", "\(result)")
                #expect(result.out.contains("ahead of this machine's (allowed: 60 s behind, 300 s ahead)"))
            }
        }
    }

    @Test("The report has versions, settings, verdicts and counts, and nothing that names somebody or something")
    func report() async throws {
        var script = FakeMacScript()
        script.clockSkew = .seconds(900)
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                let id = await user.run("hosts", "-q").out.trimmingWhitespace()
                #expect(await user.run("hosts", "rename", id, "Marmalade Sandwich").status == 0)
                #expect(await user.run("send", "--new", "--project", "web", "quince jelly").status == 0)
                var search = SecretSearch()
                let planted =
                    [
                        id, "Marmalade", "Sandwich", "quince", "jelly", "c-login", "127.0.0.1", mac.endpointText,
                        user.directory,
                    ] + (MachineName.current.utf8.count < 5 ? [] : [MachineName.current])  // “vm” is in many words.
                for text in planted { search.add(text, bytes: Array(text.utf8)) }
                search.add(code: "482913")
                let file = user.directory + "/report.json"
                let words = ["doctor", "--interface", "lo", "--engine", "embedded", "--report", file]
                let result = await user.run(words)
                #expect(result.status == 1 && result.err.contains("Wrote the report to \(file)"), "\(result)")
                #expect(!search.leaks(in: Data(result.out.utf8), of: "output").isEmpty, "what was planted is found")
                let content = try Data(contentsOf: URL(filePath: file))
                #expect(search.leaks(in: content, of: file) == [])
                #expect(FileStatus(file)?.permissions == 0o600)
                let text = String(decoding: content, as: UTF8.self)
                for part in [
                    #""pairtool" : "\#(Version.text)""#, #""copilotforge/legacy" : 1"#, #""keepsHistory" : true"#,
                    #""advice" : "Synchronise both clocks"#, #""check" : "multicast""#, #""messages" : "#,
                ] {
                    #expect(text.contains(part), "\(part) in \(text)")
                }
            }
        }
    }

    @Test("A report that cannot be written is refused before the checks")
    func unwritable() async throws {
        try await Sandbox.with { user in
            let words = ["doctor", "--interface", "lo", "--engine", "embedded", "--json"]
            let result = await user.run(words + ["--report", user.directory + "/none/report.json"])
            #expect(result.status == 1 && result.failed(with: "file.unwritable") && result.out.isEmpty, "\(result)")
        }
    }

    @Test("A host that is not paired cannot be named, and -q prints the checks that are not well")
    func names() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                #expect(await user.run(["doctor", "--host", "nobody"] + Self.command.suffix(4)).status == 5)
            }
        }
        try await Sandbox.with { user in
            let path = user.environment["XDG_DATA_HOME"]! + "/pairtool"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
            let result = try await user.spawn(["doctor", "-q", "--interface", "lo", "--engine", "embedded"])
            // What others advertise on `lo` meanwhile, and the machine itself, may be well or not.
            let checks = result.out.split(separator: "\n")
            #expect(result.status == 1 && checks.contains("files") && result.err.isEmpty, "\(result)")
            #expect(checks.allSatisfy { CheckName(rawValue: String($0)) != nil }, "\(result)")
        }
    }

    private static let command = ["doctor", "--json", "--interface", "lo", "--engine", "embedded"]

    private static func verdicts(_ result: Sandbox.Result) throws -> [String: String] {
        var verdicts: [String: String] = [:]
        for row in try result.json { verdicts[row["check"]?.string ?? ""] = row["verdict"]?.string }
        return verdicts
    }

}
