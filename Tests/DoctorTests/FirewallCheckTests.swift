import CompanionTestSupport
import FoundationEssentials
import Testing

@testable import Doctor

@Suite struct FirewallCheckTests {
    /// A machine: what ufw.conf has, the units that systemd calls active, and what nft lists; nil: it is not installed.
    struct Machine: Sendable {
        var ufw: String?
        var units: [String] = []
        var rules: String?
    }

    @Test(
        "The active firewall is named with the command that lets mDNS and a host in",
        arguments: [
            (Machine(), Verdict.ok, "neither ufw nor firewalld nor nft is active", nil),
            (Machine(ufw: "# ENABLED=yes\nENABLED=no\n"), .ok, "neither ufw nor firewalld nor nft is active", nil),
            (Machine(rules: ""), .ok, "neither ufw nor firewalld nor nft is active", nil),
            (
                // Docker's rules are for what is passed on.
                Machine(rules: "table ip nat {\n chain DOCKER {\n type nat hook prerouting priority dstnat;\n}\n}\n"),
                .ok, "neither ufw nor firewalld nor nft is active", nil
            ),
            (Machine(ufw: "LOGLEVEL=low\nENABLED=yes\n", rules: "hook input"), .note, "ufw is active", "sudo ufw"),
            (Machine(units: ["firewalld", "nftables"]), .note, "firewalld is active", "sudo firewall-cmd"),
            (Machine(units: ["nftables"]), .note, "nft has rules for packets that come in", "sudo nft"),
            (
                Machine(rules: "table inet filter {\n chain input {\n type filter hook input priority 0;\n}\n}\n"),
                .note, "nft has rules for packets that come in", "sudo nft"
            ),
        ] as [(Machine, Verdict, String, String?)]
    )
    func active(machine: Machine, verdict: Verdict, evidence: String, command: String?) async throws {
        let findings = try await Self.findings(machine)
        #expect(findings.map(\.verdict) == [verdict] && findings.map(\.evidence) == [evidence], "\(findings)")
        let advice = findings.first?.advice
        guard let command else {
            #expect(advice == nil)
            return
        }
        #expect(advice?.contains(command) == true, "\(findings)")
        for port in ["7878", "7879"] { #expect(advice?.contains(port) == true) }
        #expect(advice?.contains("5353") == true || advice?.contains("mdns") == true)
    }

    private static func findings(_ machine: Machine) async throws -> [Finding] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "firewall-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        if let ufw = machine.ufw { try Data(ufw.utf8).write(to: directory.appending(path: "ufw.conf")) }
        let units = machine.units.map { "[ \"$3\" = \($0) ] && exit 0\n" }.joined()
        try program("systemctl", "[ \"$1 $2\" = 'is-active --quiet' ] || exit 1\n\(units)exit 3", in: directory)
        if let rules = machine.rules {
            try program("nft", "[ \"$*\" = 'list ruleset' ] || exit 1\ncat <<'END'\n\(rules)\nEND", in: directory)
        }
        let check = FirewallCheck(
            ufwSettings: directory.appending(path: "ufw.conf").path,
            directories: [directory.path]
        )
        return try await check.findings()
    }

    private static func program(_ name: String, _ script: String, in directory: URL) throws {
        let path = directory.appending(path: name).path
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
}
