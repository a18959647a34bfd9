import CompanionClient
import CompanionTestSupport
import CompanionWire
import Discovery
import FoundationEssentials
import Identity
import Testing

@testable import Doctor

@Suite struct CheckTests {
    @Test("Findings come in the order of the checks, however long each takes, and none is lost")
    func order() async throws {
        let gates = Gates()
        let doctor = CheckRunner(checks: [Waiting(gates: gates), Opening(gates: gates), Failing()])
        let shown = NameList()
        let all = try await doctor.run { shown.names.append($0.check) }
        #expect(shown.names == [.daemon, .port, .disk])
        #expect(all.map(\.verdict) == [.ok, .ok, .problem])
        #expect(all.last?.evidence == "it broke")
    }

    @Test("A check that takes too long is a problem, and does not hold the others up")
    func slow() async throws {
        let doctor = CheckRunner(checks: [Waiting(gates: Gates())], limit: .milliseconds(1))
        let findings = try await doctor.run()
        #expect(findings.map(\.verdict) == [.problem])
        #expect(findings[0].evidence.contains("did not finish"))
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
        #expect(HostCheck.clock(Self.host, offset: .seconds(offset)).verdict == verdict)
        #expect(HostCheck.clock(Self.host, offset: nil).verdict == .skipped)
    }

    @Test("Nobody who advertises himself is a warning, but where hosts are paired, which are looked at themselves")
    func nobody() {
        #expect(AdvertCheck.findings([], hasPairedHosts: false).first?.verdict == .warning)
        #expect(AdvertCheck.findings([], hasPairedHosts: true).first?.verdict == .note)
        #expect(Verdict.allCases.filter(\.fails) == [.warning, .problem])
    }

    @Test(
        "What hides processes from a host is noted, unless the user sees them all the same",
        arguments: [
            ("rw,nosuid,nodev,noexec,relatime", 1000, Verdict.ok), ("rw,hidepid=off", 1000, .ok),
            ("rw,hidepid=0", 1000, .ok), ("rw,relatime,hidepid=invisible", 1000, .note), ("rw,hidepid=1", 1000, .note),
            ("rw,gid=7,hidepid=2", 1000, .note), ("rw,gid=100,hidepid=2", 1000, .ok), ("rw,hidepid=2", 0, .ok),
        ] as [(String, UInt32, Verdict)]
    )
    func processes(options: String, user: UInt32, verdict: Verdict) {
        let mounts = """
            sysfs /sys sysfs rw,hidepid=2 0 0
            proc /proc proc rw,hidepid=4 0 0
            proc /proc proc \(options) 0 0
            proc /srv/jail/proc proc rw,hidepid=2 0 0

            """
        let finding = ProcessCheck.finding(mounts: mounts, user: user, groups: [20, 100])
        #expect(finding.verdict == verdict, "\(finding)")
        #expect((finding.advice?.contains("gid=$(id -g)") == true) == (verdict == .note))
    }

    @Test("Where nothing is known of `/proc`, nothing is said of it, and this machine's can be read")
    func unknownProcesses() {
        #expect(ProcessCheck.finding(mounts: "", user: 1000, groups: []).verdict == .skipped)
        #expect(ProcessCheck(mounts: "/nonexistent").findings().map(\.verdict) == [.skipped])
        #expect(ProcessCheck().findings().map(\.verdict) != [.skipped])
    }

    @Test("docs/troubleshooting.md has every check and every piece of advice, in the doctor's words")
    func document() throws {
        let path = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/docs/troubleshooting.md"
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        for check in CheckName.allCases { #expect(text.contains("`\(check.rawValue)`"), "\(check.rawValue)") }
        for advice in Advice.allCases { #expect(text.contains(advice.text([:])), "\(advice.text([:]))") }
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
        return [.ok(.daemon, evidence: "done")]
    }
}

private struct Opening: DoctorCheck {
    let name = CheckName.port
    let gates: Gates

    func findings() -> [Finding] {
        gates.open("go")
        return [.ok(.port, evidence: "done")]
    }
}

private struct Failing: DoctorCheck {
    let name = CheckName.disk

    func findings() throws -> [Finding] {
        throw Failure()
    }
}

private struct Failure: Error, CustomStringConvertible {
    let description = "it broke"
}
