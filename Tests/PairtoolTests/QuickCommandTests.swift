import CompanionWire
import Discovery
import FoundationEssentials
import Testing

@testable import CommandCore
@testable import pairtool_quick

/// The command lines that `pairtool-quick` sees to itself, without becoming `pairtool-full`.
@Suite(.timeLimit(.minutes(2))) struct QuickCommandTests {
    private static let samples =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/samples/"

    private static func sample(_ name: String) -> String { samples + name }

    @Test("What it sees to itself")
    func taken() {
        #expect(QuickCommand(["--version"]) == .version)
        #expect(QuickCommand(["scan", "a.png"]) == .scan(files: ["a.png"], format: .text, showSecrets: false))
        #expect(
            QuickCommand(["scan", "--json", "a.png", "--show-secrets", "b.png"])
                == .scan(files: ["a.png", "b.png"], format: .json, showSecrets: true)
        )
        #expect(QuickCommand(["scan", "a.png", "-q"]) == .scan(files: ["a.png"], format: .quiet, showSecrets: false))
        #expect(
            QuickCommand(["discover"]) == .discover(types: [], first: false, choice: DiscoveryChoice(), format: .text)
        )
        #expect(
            QuickCommand([
                "discover", "--first", "--type", "_lumiagent._tcp", "--type", "_x._tcp", "--engine", "daemon",
                "--interface", "lo", "--json",
            ])
                == .discover(
                    types: [.lumi, ServiceType("_x._tcp")].compactMap(\.self),
                    first: true,
                    choice: DiscoveryChoice(engine: .daemon, interface: "lo"),
                    format: .json
                )
        )
    }

    @Test(
        "Everything else is the whole tool's: other commands and options, help, mistakes, what may have to be waited for",
        arguments: [
            [], ["scan"], ["--help"], ["--version", "--json"], ["hosts"], ["help", "scan"], ["scan", "--help"],
            ["scan", "-"], ["scan", "a.png", "-"], ["scan", "--watch", "."], ["scan", "--screen"],
            ["scan", "--", "a.png"],
            ["scan", "a.png", "--json", "-q"], ["scan", "a.png", "--jso"], ["scan", "a.png", "--camera"], ["scan", ""],
            ["scan", "--generate-completion-script"],
            ["qr", "a", "-o", "b.png"],
            ["discover", "--watch"], ["discover", "--probe"], ["discover", "--timeout", "3"], ["discover", "--help"],
            ["discover", "--type"], ["discover", "--type", "nonsense"], ["discover", "--engine", "other"],
            ["discover", "--engine"], ["discover", "--interface"], ["discover", "--interface", "--json"],
            ["discover", "--json", "-q"], ["discover", "--first", "--first"], ["discover", "--domain", "a.example"],
            ["discover", "--host", "127.0.0.1"], ["discover", "studio"], ["discover", "--after", "{}"],
        ]
    )
    func left(words: [String]) {
        #expect(QuickCommand(words) == nil)
    }

    @Test(
        "Both programs say the same, to the byte, and end alike",
        arguments: [
            ["good.png"], ["good.png", "--show-secrets"], ["good.png", "--json"], ["good.png", "-q"],
            ["expired.png", "--json"],
            ["foreign-wifi.png"], ["foreign-wifi.png", "--json"], ["damaged.png"], ["damaged.png", "--json"],
            ["nowhere.png"], ["nowhere.png", "--json"], ["photographed.jpg", "inverted.png"],
            ["good.png", "damaged.png"],
            ["good.png", "nowhere.png", "foreign-url.png", "--json"], ["payload-good.json", "--quiet"],
        ]
    )
    func sameScans(words: [String]) async throws {
        try await Sandbox.with { user in
            let line = ["scan"] + words.map { $0.hasPrefix("-") ? $0 : Self.sample($0) }
            #expect(QuickCommand(line) != nil)
            let quick = try await Self.run(BuiltTool.path, line, user)
            let full = try await Self.run(BuiltTool.fullPath, line, user)
            #expect(quick == full)
            #expect(!quick.out.isEmpty || !quick.err.isEmpty)
        }
    }

    @Test("Both programs find the same host, and say the same of it")
    func sameHosts() async throws {
        try await withProject { host, user in
            try await withRunningHost(host, ["--project", host.directory + "/garden"]) { events in
                _ = try await events.first("advertised")
                let id = try #require(try await events.payload.host)
                for words in [["-q"], ["--json"], [], ["--type", "_cf-companion._tcp", "--json"]] {
                    let line = ["discover", "--engine", "embedded", "--interface", "lo"] + words
                    #expect(QuickCommand(line) != nil)
                    // Hosts of others come and go on the same interface, and make columns wider.
                    var lines: [[String]] = []
                    for program in [BuiltTool.path, BuiltTool.fullPath] {
                        // On a busy machine one look may miss it.
                        var own: [Substring] = []
                        for _ in 0..<5 where own.isEmpty {
                            let outcome = try await Self.run(program, line, user)
                            own = outcome.out.split(separator: "\n").filter { $0.contains(id.prefix(8)) }
                            #expect(outcome.status == 0 || own.isEmpty, "\(outcome)")
                        }
                        lines.append(own.map { $0.split(separator: " ").joined(separator: " ") })
                    }
                    #expect(lines[0].count == 1 && lines[0] == lines[1])
                }
            }
        }
    }

    @Test("Where nobody is there, both programs say why", arguments: [["--json"], []])
    func nobody(words: [String]) async throws {
        try await Sandbox.with { user in
            let line = ["discover", "--engine", "embedded", "--interface", "lo", "--type", "_pt-nobody._tcp"] + words
            #expect(QuickCommand(line) != nil)
            let quick = try await Self.run(BuiltTool.path, line, user)
            let full = try await Self.run(BuiltTool.fullPath, line, user)
            for outcome in [quick, full] {
                #expect(outcome.status == 3 && outcome.out.isEmpty && outcome.err.contains("no host was found"))
                #expect(outcome.err.contains("adverts: no host advertises itself"), "\(outcome)")
            }
        }
    }

    @Test("Where nobody is there, the whole tool gets to know, and does not look again")
    func handover() async throws {
        try await Sandbox.with { user in
            let line = ["discover", "--engine", "embedded", "--interface", "lo", "--type", "_pt-nobody._tcp", "-q"]
            let known = #"{"engine":"embedded","isSettled":true}"#
            let alone = user.directory + "/pairtool"
            try FileManager.default.copyItem(atPath: BuiltTool.path, toPath: alone)
            try FileManager.default.copyItem(atPath: BuiltTool.quickPath, toPath: alone + "-quick")
            try Data("#!/bin/sh\nprintf '%s\\n' \"$@\"\n".utf8).write(to: URL(filePath: alone + "-full"))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: alone + "-full")
            let words = try await Self.run(alone, line, user).out.split(separator: "\n").map(String.init)
            #expect(Array(words.dropLast()) == line + ["--after"])
            let survey = try BlankSurvey(text: try #require(words.last))
            #expect(survey == (try BlankSurvey(text: known)))
            // An engine would fail to look there.
            let told = try await Self.run(
                BuiltTool.fullPath,
                ["discover", "--interface", "nowhere0", "--after", known],
                user
            )
            #expect(told.status == 3 && told.err.contains("no host was found (embedded mDNS engine)"), "\(told)")
        }
    }

    @Test("Records that cannot be read, and interfaces that do not exist, are told alike")
    func sameFailures() async throws {
        try await Sandbox.with { user in
            let data = user.directory + "/data/pairtool"
            try FileManager.default.createDirectory(
                atPath: data,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            try Data("{".utf8).write(to: URL(filePath: data + "/hosts.json"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: data + "/hosts.json")
            let usual = ["discover", "--engine", "embedded", "--interface", "lo", "--json"]
            for (line, status, code) in [
                (usual, 1, "hosts.unreadable"), (["discover", "--interface", "nowhere0"], 2, "nowhere0"),
            ] {
                #expect(QuickCommand(line) != nil)
                let quick = try await Self.run(BuiltTool.path, line, user)
                #expect(quick.status == Int32(status) && quick.err.contains(code), "\(quick)")
                #expect(try await Self.run(BuiltTool.fullPath, line, user) == quick)
            }
        }
    }

    @Test("Without the program with all commands codes are read all the same, and all else says what is missing")
    func alone() async throws {
        try await Sandbox.with { user in
            let alone = user.directory + "/pairtool"
            try FileManager.default.copyItem(atPath: BuiltTool.path, toPath: alone)
            try FileManager.default.copyItem(atPath: BuiltTool.quickPath, toPath: alone + "-quick")
            let read = try await Self.run(alone, ["scan", Self.sample("good.png"), "-q"], user)
            #expect(read.status == 0 && read.out.hasSuffix("\tpairing\n"), "\(read)")
            let hosts = try await Self.run(alone, ["hosts"], user)
            #expect(hosts.status == 1 && hosts.out.isEmpty)
            #expect(hosts.err.contains("\(user.directory)/pairtool-full cannot be run: No such file or directory"))
            let json = try await Self.run(alone, ["hosts", "--json"], user)
            #expect(json.err.contains(#""code":"installation.incomplete""#) && json.err.contains(#""exitStatus":1"#))
            // What was found out is told all the same.
            let nobody = try await Self.run(
                alone,
                ["discover", "--engine", "embedded", "--interface", "lo", "--type", "_pt-nobody._tcp"],
                user
            )
            #expect(nobody.status == 3 && nobody.err.contains("no host was found"))
            #expect(nobody.err.contains("\(user.directory)/pairtool-full cannot be run: No such file or directory"))
        }
    }

    private static func run(_ program: String, _ arguments: [String], _ user: Sandbox) async throws -> ProgramOutcome {
        var outcome = try await ProgramOutcome.of(program, arguments, user)
        (outcome.out, outcome.err) = (steady(outcome.out), steady(outcome.err))
        return outcome
    }

    /// Without the time that is left, which goes on between two runs.
    private static func steady(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in
                if line.hasPrefix("  expires ") { return String(line.prefix { $0 != "(" }) }
                guard let start = line.firstRange(of: #""expiresIn":"#) else { return String(line) }
                return String(line[..<start.lowerBound]) + line[start.upperBound...].drop { $0 == "-" || $0.isNumber }
            }
            .joined(separator: "\n")
    }
}
