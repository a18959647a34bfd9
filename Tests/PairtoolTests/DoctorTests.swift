import CompanionClient
import CompanionTestSupport
import CompanionWire
import Discovery
import FoundationEssentials
import Identity
import Testing

@testable import pairtool

@Suite struct DoctorTests {
    @Test("Findings come in the order of the checks, however long each takes, and none is lost")
    func order() async throws {
        let gates = Gates()
        let doctor = Doctor(checks: [Waiting(gates: gates), Opening(gates: gates), Failing()])
        let shown = NameList()
        let all = try await doctor.run { shown.names.append($0.check) }
        #expect(shown.names == [.daemon, .port, .disk])
        #expect(all.map(\.verdict) == [.ok, .ok, .problem])
        #expect(all.last?.evidence == "it broke")
    }

    @Test("A check that takes too long is a problem, and does not hold the others up")
    func slow() async throws {
        var doctor = Doctor(checks: [Waiting(gates: Gates())])
        doctor.limit = .milliseconds(1)
        let findings = try await doctor.run()
        #expect(findings.map(\.verdict) == [.problem])
        #expect(findings[0].evidence.contains("did not finish"))
    }

    @Test(
        "Text has a verdict, a check, the evidence and what to do; colour only where it is asked for, and no control character of a peer"
    )
    func text() {
        let finding = Finding.problem(
            .host,
            about: "Ev\u{1B}[2Jil",
            "at 10.0.0.1:7878",
            .reach,
            ["HOST": "Evil\u{202E}"]
        )
        #expect(
            finding.text(colour: false, columns: nil) == """
                problem  host         Ev␛[2Jil: at 10.0.0.1:7878
                         → Check that Evil\u{FFFD} is on and on this network: pairtool discover --probe

                """
        )
        #expect(finding.text(colour: true, columns: nil).hasPrefix("\u{1B}[31mproblem \u{1B}[0m host"))
    }

    @Test("The daemon's state decides, in words")
    func daemon() {
        func finding(_ report: DaemonReport) -> Finding { EngineCheck.finding(report) }
        #expect(finding(.daemon(version: "avahi 0.8", hostName: "a.local", state: .running)).verdict == .ok)
        #expect(finding(.daemon(version: "avahi 0.8", hostName: "a.local", state: .registering)).verdict == .warning)
        let collision = finding(.daemon(version: "avahi 0.8", hostName: "a.local", state: .collision))
        #expect(collision.verdict == .problem && collision.advice?.contains("hostnamectl") == true)
        #expect(finding(.daemon(version: "avahi 0.8", hostName: "a.local", state: .failure)).verdict == .problem)
        #expect(finding(.daemonBroken("it refuses: AccessDenied")).evidence.contains("AccessDenied"))
    }

    @Test("Two that answer mDNS are a warning, browsers beside them are not, and an owner of another user has no name")
    func port() {
        let avahi = PortOwner(program: "avahi-daemon", pid: 1, user: 108)
        let resolved = PortOwner(program: "systemd-resolve", pid: 2, user: 101)
        let browser = PortOwner(program: "chrome", pid: 3, user: 1000)
        #expect(PortCheck.finding(owners: [avahi, browser], isShared: true).verdict == .ok)
        #expect(PortCheck.finding(owners: [avahi, resolved], isShared: true).verdict == .warning)
        #expect(PortCheck.finding(owners: [resolved], isShared: true).verdict == .ok)
        #expect(PortCheck.finding(owners: [], isShared: false).verdict == .problem)
        let hidden = PortCheck.finding(owners: [PortOwner(program: nil, pid: nil, user: 7)], isShared: false)
        #expect(hidden.evidence.contains("a program of user 7"))
    }

    @Test(
        "A clock within the protocol's limits is at most a warning, one outside is a problem",
        arguments: [
            (-61, Verdict.problem), (-60, .warning), (-31, .warning), (-30, .ok), (0, .ok), (30, .ok), (31, .warning),
            (300, .warning), (301, .problem),
        ]
    )
    func clock(offset: Int, verdict: Verdict) {
        #expect(HostCheck.clock(Self.host, .seconds(offset)).verdict == verdict)
        #expect(HostCheck.clock(Self.host, nil).verdict == .skipped)
    }

    @Test("Nobody who advertises himself is a warning, but where hosts are paired, which are looked at themselves")
    func nobody() {
        #expect(AdvertCheck.findings([], hasPairedHosts: false).first?.verdict == .warning)
        #expect(AdvertCheck.findings([], hasPairedHosts: true).first?.verdict == .note)
        #expect(Verdict.allCases.filter(\.fails) == [.warning, .problem])
    }

    @Test("Problems come first among the likeliest causes, containers not at all, and there are three")
    func causes() {
        let problem = Finding.problem(.firewall, "rule", .allowMDNS)
        let mute = Finding.warning(.multicast, about: "eth0", "nobody", .passMulticast)
        let container = Finding.note(.interfaces, "docker0", .chooseInterface)
        #expect(LikelyCauses.rank([container, mute, problem]).map(\.check) == [.firewall, .adverts, .multicast])
        #expect(LikelyCauses.rank([]).map(\.check) == [.adverts, .multicast, .interfaces])
        #expect(LikelyCauses.rank([problem, problem, problem, problem]).count == 3)
    }

    @Test("docs/troubleshooting.md has every check and every piece of advice, in the doctor's words")
    func document() throws {
        let path = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/docs/troubleshooting.md"
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        for check in CheckName.allCases { #expect(text.contains("`\(check.rawValue)`"), "\(check.rawValue)") }
        for advice in Advice.allCases { #expect(text.contains(advice.text([:])), "\(advice.text([:]))") }
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

    @Test("A host that is not paired cannot be named, and -q prints the checks that are not well")
    func names() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                #expect(await user.run("doctor", "nobody", "--interface", "lo", "--engine", "embedded").status == 5)
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

    private static let host = PairedHost(
        id: "0123456789abcdef",
        name: "Shed",
        family: .copilotforge,
        trust: .verified,
        endpoint: CompanionEndpoint(address: IPAddress("127.0.0.1")!, port: 7879),
        deviceID: "fedcba9876543210",
        pairedAt: Date(timeIntervalSince1970: 0)
    )
}

private final class NameList {
    var names: [CheckName] = []
}

/// Is done once the gate is open.
private struct Waiting: DoctorCheck {
    let name = CheckName.daemon
    let gates: Gates

    func findings() async throws -> [Finding] {
        try await gates.pass("go")
        return [.ok(.daemon, "done")]
    }
}

private struct Opening: DoctorCheck {
    let name = CheckName.port
    let gates: Gates

    func findings() -> [Finding] {
        gates.open("go")
        return [.ok(.port, "done")]
    }
}

private struct Failing: DoctorCheck {
    let name = CheckName.disk

    func findings() throws -> [Finding] {
        throw CommandError(.failed, "test", "it broke")
    }
}
