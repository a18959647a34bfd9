import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@testable import pairtool

/// What the built binary's doctor says of paired hosts that are not what they were, and of engines that do not start.
@Suite(.timeLimit(.minutes(15))) struct DoctorHostTests {
    private static let command = ["doctor", "--json", "--interface", "lo", "--engine", "embedded"]

    /// Has the doctor look at one paired host and the machine.
    private func examine(
        _ user: Sandbox,
        _ arguments: [String] = command,
        environment: [String: String] = [:]
    ) async throws -> Diagnosis.Examined {
        let result = try await user.spawn(arguments, environment: environment)
        let rows = try result.out.split(separator: "\n").map {
            try JSONDecoder().decode(Diagnosis.Row.self, from: Data($0.utf8))
        }
        return Diagnosis.Examined(rows: rows, status: result.status)
    }

    /// Puts a host on record as if this device had paired with it at a port of this machine.
    private func record(
        _ user: Sandbox,
        at port: Int,
        verifiedBy certificate: (der: [UInt8], spki: String)? = nil
    ) throws {
        var host = PairedHost(
            id: "0123456789abcdef",
            name: "Shed",
            family: .copilotforge,
            trust: certificate == nil ? .legacy : .verified,
            endpoint: try #require(CompanionEndpoint("127.0.0.1:\(port)")),
            deviceID: "fedcba9876543210",
            pairedAt: Date(timeIntervalSince1970: 1_795_253_400)
        )
        if let certificate {
            host.spki = certificate.spki
            host.certificate = Data(certificate.der).base64EncodedString()
        }
        try PairedHostStore(directory: user.directory + "/data/pairtool").update { $0.record(host) }
    }

    @Test("A host that was paired with proof and speaks version 1 alone by now has to be updated")
    func tooOld() async throws {
        let health = #"{"ok":true,"service":"pairtool-host","version":"0.0.1","protocolVersions":[1]}"#
        try await withTLSTestHost { request, _ in
            [request.path == "/health" ? .json(200, health) : .json(404, #"{"ok":false,"error":"Not found"}"#)]
        } _: { host in
            try await Sandbox.with { user in
                try record(user, at: host.port, verifiedBy: (host.certificate.der, host.certificate.spki))
                let examined = try await examine(user)
                #expect(examined.status == 1)
                #expect(examined["host"]?.verdict == "ok", "\(examined.rows)")
                #expect(examined["version"]?.verdict == "problem")
                #expect(
                    examined["version"]?.evidence
                        == "pairtool-host 0.0.1, protocol 1, but it was paired with protocol 2"
                )
                #expect(examined["version"]?.advice == "Update pairtool on Shed, or here if that is the older one.")
            }
        }
    }

    @Test("A host that was paired without proof and speaks a version of the future alone has to be updated, or we")
    func tooNew() async throws {
        var script = FakeMacScript()
        let health = #"{"ok":true,"service":"pairtool-host","version":"9.0","protocolVersions":[3,4]}"#
        script.faults = [FakeMacFault(.json(status: 200, health), on: "/health")]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                try record(user, at: mac.port)
                let examined = try await examine(user)
                #expect(examined.status == 1)
                #expect(examined["version"]?.verdict == "problem", "\(examined.rows)")
                #expect(
                    examined["version"]?.evidence
                        == "pairtool-host 9.0, protocol 3 and 4, but it was paired with protocol 1"
                )
                #expect(examined["version"]?.advice == "Update pairtool on Shed, or here if that is the older one.")
            }
        }
    }

    @Test("What ails the agent of a pairtool host is not for an app to mend")
    func agentTrouble() async throws {
        try await withProject { host, user in
            let path = try host.file("agent", Array("#!/bin/sh\n".utf8))
            _ = try await host.shell("chmod 755 agent")
            let project = ["--project", host.directory + "/garden", "--name", "Shed", "--agent-command", path]
            try await withRunningHost(host, project) { events in
                try await user.pair(try await events.payload.text)
                _ = try await host.shell("rm agent")
                let examined = try await examine(user)
                #expect(examined["sign-in"]?.verdict == "problem", "\(examined.rows)")
                #expect(examined["sign-in"]?.evidence == "its agent is not installed, or not signed in")
                #expect(examined["sign-in"]?.advice == "See at Shed what its agent needs: pairtool host status")
            }
        }
    }

    @Test("A host that was paired without proof and could prove who it is by now is a warning")
    func couldProve() async throws {
        try await withProject { host, user in
            let project = ["--project", host.directory + "/garden", "--name", "Shed", "--legacy"]
            try await withRunningHost(host, project) { events in
                try record(user, at: try await events.ports.plain)
                let examined = try await examine(user)
                #expect(examined["version"]?.verdict == "warning", "\(examined.rows)")
                #expect(
                    examined["version"]?.evidence.hasSuffix(
                        "protocol 1 and 2, but it was paired with protocol 1 and proves nothing"
                    ) == true
                )
                #expect(examined["version"]?.advice == "Pair again as a verified host: pairtool pair")
            }
        }
    }

    @Test("A host that shows another key than the one that was paired is not to be trusted, and both pins are shown")
    func otherKey() async throws {
        let certificate = try TestCertificate()
        try await withProject { host, user in
            let project = ["--project", host.directory + "/garden", "--name", "Shed"]
            try await withRunningHost(host, project) { events in
                try record(user, at: try await events.ports.secure, verifiedBy: (certificate.der, certificate.spki))
                let examined = try await examine(user)
                #expect(examined.status == 1 && examined.problems == ["host"], "\(examined.rows)")
                #expect(examined["host"]?.evidence.contains(certificate.spki) == true)
                #expect(
                    examined["host"]?.advice
                        == "Check on Shed whether it was set up again. If so: pairtool pair. If not, someone may be intercepting the connection."
                )
            }
        }
    }

    @Test(
        "Another service on the port of a paired host is named, or said to be none of ours",
        arguments: [
            (FakeMacFault.Kind.json(status: 200, #"{"ok":true,"service":"printer"}"#), "printer answers"),
            (.page(status: 404), "is not a companion host"),
        ]
    )
    func otherService(answer: FakeMacFault.Kind, evidence: String) async throws {
        var script = FakeMacScript()
        script.faults = [FakeMacFault(answer)]
        try await withFakeMac(script) { mac in
            try await Sandbox.with { user in
                try record(user, at: mac.port)
                let examined = try await examine(user)
                #expect(examined.status == 1 && examined.problems == ["host"], "\(examined.rows)")
                #expect(examined["host"]?.evidence.contains(evidence) == true, "\(examined.rows)")
                #expect(
                    examined["host"]?.advice
                        == "Another program has that port; find the host's: pairtool discover --probe"
                )
            }
        }
    }

    @Test("The daemon's engine without a bus does not start: the other one is advised")
    func noEngine() async throws {
        try await Sandbox.with { user in
            let examined = try await examine(
                user,
                ["doctor", "--json", "--interface", "lo", "--engine", "daemon"],
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(user.directory)/none"]
            )
            #expect(examined.status == 1)
            #expect(examined["engine"]?.verdict == "problem", "\(examined.rows)")
            #expect(examined["engine"]?.evidence.hasPrefix("daemon: ") == true)
            #expect(examined["engine"]?.advice == "Use the other engine: pairtool discover --engine embedded")
            let found = try await user.spawn(
                ["discover", "--interface", "lo", "--engine", "daemon"],
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(user.directory)/none"]
            )
            #expect(
                found.status == 1
                    && found.err.contains("\n  next: use the engine that needs no daemon: add --engine embedded\n"),
                "\(found)"
            )
        }
    }

    @Test(
        "A daemon whose host name another machine has says so",
        .enabled(if: PrivateBus.missing.isEmpty, "skipped, missing: \(PrivateBus.missing)")
    )
    func collision() async throws {
        // A daemon leaves that state by itself within a second: one that stays in it answers here.
        try await PrivateBus.with(["avahi", "--state", "3"]) { bus in
            try await Sandbox.with { user in
                let examined = try await examine(user, environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
                #expect(examined.status == 1)
                #expect(examined["daemon"]?.verdict == "problem", "\(examined.rows)")
                #expect(examined["daemon"]?.evidence == "avahi 0.8: another machine has the name desk.local")
                #expect(
                    examined["daemon"]?.advice
                        == "Give this machine a unique name: sudo hostnamectl set-hostname NAME"
                )
            }
        }
    }
}
