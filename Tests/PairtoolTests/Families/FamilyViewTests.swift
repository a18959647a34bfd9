import ArgumentParser
import CompanionClient
import CompanionTestSupport
import CompanionWire
import Doctor
import FoundationEssentials
import Identity
import Terminal
import Testing

@testable import CompanionApp
@testable import pairtool

/// What `status`, `doctor` and probes make of hosts of every family.
@Suite struct FamilyViewTests {
    @Test("Status of a daemon: its health, its base URL in use, and exit codes")
    func status() async throws {
        try await withPairedJarvis { jarvis, user in
            let row = try #require(try await user.run("status", "--json").json.first)
            #expect(row["family"] == .text("jarvis") && row["reachable"] == .bool(true))
            #expect(row["address"] == .text(jarvis.endpointText) && row["version"] == .text("1.4.0"))
            let text = await user.run("status")
            #expect(text.status == 0 && text.out.contains("family     Jarvis") && !text.out.contains("connected"))
            jarvis.change { $0.health = "degraded" }
            #expect(await user.run("status").status == 11)
            jarvis.change { $0.faults = [FakeJarvisFault(.reset)] }
            #expect(await user.run("status").status == 10)
            #expect(await user.run("status", "--require", "verified").status == 13)
        }
    }

    @Test("The doctor looks at daemons: well, not well, gone, replaced by another service")
    func doctor() async throws {
        try await withPairedJarvis { jarvis, user in
            func finding() async throws -> [String: ShownJSON] {
                let arguments = ["doctor", "--host", "127", "--json", "--interface", "lo", "--engine", "embedded"]
                let rows = try await user.spawn(arguments).json
                return try #require(rows.first { $0["check"] == .text("host") })
            }
            let well = try await finding()
            #expect(well["verdict"] == .text("ok"))
            jarvis.change { $0.health = "degraded" }
            let unwell = try await finding()
            #expect(unwell["verdict"] == .text("warning") && unwell["evidence"]?.string?.contains("degraded") == true)
            jarvis.change { $0.faults = [FakeJarvisFault(.reset)] }
            let gone = try await finding()
            #expect(gone["verdict"] == .text("problem"))
            #expect(gone["advice"]?.string?.contains("pairtool jarvis health") == true)
            jarvis.change { $0.faults = [FakeJarvisFault(.page(status: 200))] }
            let foreign = try await finding()
            #expect(foreign["advice"]?.string?.hasPrefix("Another program has that port") == true)
        }
    }

    /// What the doctor says of a host in a state.
    private static func findings(_ host: PairedHost, _ health: HostHealth) async throws -> [Finding] {
        try await HostCheck(
            host: host,
            isAdvertised: true,
            usesToken: host.family.behavior.facts.codes.contains(.token),
            ask: { health },
            lookElsewhere: { nil }
        ).findings()
    }

    @Test("A probe of a Lumi host is a connection and nothing more")
    func lumiProbe() async throws {
        try await withFakeLumi { mac in
            let endpoint = try #require(CompanionEndpoint(mac.endpointText))
            #expect(await Probe.probe(endpoint, family: .lumi).state == .up)
            let health = try await LumiFamily().health(at: endpoint, speaksTLS: false, timeouts: .init())
            #expect(try await Self.findings(Self.host(.lumi, .legacy), health).first?.check == .host)
            #expect(mac.commands.isEmpty)
        }
        let closed = try #require(CompanionEndpoint(try await withFakeLumi { $0.endpointText }))
        #expect(await Probe.probe(closed, family: .lumi).state == .down)
    }

    @Test(
        "A probe of an AICLI server asks it in its own way, without its token, and tells its kind",
        arguments: [(FakeAICLIScript.Generation.wsEarly, "ws"), (.ws, "ws"), (.http, "http")]
    )
    func aicliProbe(generation: FakeAICLIScript.Generation, name: String) async throws {
        try await withFakeAICLI(FakeAICLIScript(generation)) { server in
            let endpoint = try #require(CompanionEndpoint(server.endpointText))
            let result = await Probe.probe(endpoint, family: .aicli)
            #expect(result.state == .up && result.service == "aicli" && result.version == "1.0.0", "\(result)")
            #expect(server.requests.allSatisfy { $0.header("Authorization") == nil && $0.method == "GET" })
            let health = try await AICLIFamily().health(at: endpoint, speaksTLS: false, timeouts: .init())
            #expect(health.generation == name && health.assistant == .program(answers: true) && health.trouble == nil)
            let rows = HostCapability.all(of: Self.host(.aicli, .legacy), health: health)
            #expect(rows.first { $0.capability == "prompts" }?.available == (name == "ws"))
            server.change { $0.isAssistantAvailable = false }
            let lost = try await AICLIFamily().health(at: endpoint, speaksTLS: false, timeouts: .init())
            let findings = try await Self.findings(Self.host(.aicli, .legacy), lost)
            #expect(findings.contains { $0.check == .signIn && $0.verdict == .problem })
        }
        // Another service in its place is not up.
        try await withFakeJarvis { other in
            let endpoint = try #require(CompanionEndpoint(other.endpointText))
            #expect(await Probe.probe(endpoint, family: .aicli).state == .other)
        }
    }

    @Test("What a host can do is said with its state, in one shape for every family, by the built binary")
    func capabilities() async throws {
        try await withPairedJarvis { _, user in
            let status = try #require(try await user.spawn(["status", "--json"]).json.first)
            let rows = try #require(status["capabilities"]?.array)
            let approvals = try #require(rows.first { $0["capability"] == .text("approvals") })
            #expect(approvals["available"] == .bool(true))
            #expect(approvals["command"] == .text("pairtool approvals"))
            let prompts = try #require(rows.first { $0["capability"] == .text("prompts") })
            #expect(prompts["available"] == .bool(false) && prompts["command"] == nil && prompts["note"] != nil)
            let text = await user.run("status").out
            #expect(text.contains("\ncan        jarvis health, approvals\n"), "\(text)")
            #expect(text.contains("\ncannot     list projects, list chats, "), "\(text)")
        }
    }

    private static func host(_ family: HostFamily, _ trust: HostTrust) -> PairedHost {
        PairedHost(
            id: "0123456789abcdef",
            name: "Shed",
            family: family,
            trust: trust,
            endpoint: CompanionEndpoint(address: IPAddress("127.0.0.1")!, port: 1),
            deviceID: "fedcba9876543210",
            pairedAt: Date(timeIntervalSince1970: 0)
        )
    }

    @Test("Each capability has a command that exists, or a reason; every family has some, each word once")
    func commands() throws {
        let known = Self.commands(of: Pairtool.self, behind: "pairtool")
        for family in HostFamily.allCases {
            for trust in HostTrust.allCases {
                let all = HostCapability.all(of: Self.host(family, trust), health: nil)
                #expect(Set(all.map(\.capability)).count == all.count && all.contains(where: \.available))
                for capability in all {
                    #expect(capability.available == (capability.command != nil))
                    #expect(capability.available || capability.note != nil)
                    if let command = capability.command { #expect(known.contains(command), "\(command)") }
                }
            }
        }
        for family in HostFamily.allCases {
            let all = HostCapability.all(of: Self.host(family, .verified), health: nil)
            func has(_ word: String) -> Bool { all.contains { $0.capability == word && $0.available } }
            #expect(has("outbox") == (family.behavior.facts.queuing != .none), "\(family)")
            #expect(has("search") == has("messages"), "\(family)")
        }
        let old = HostCapability.all(of: Self.host(.copilotforge, .legacy), health: nil)
        let new = HostCapability.all(of: Self.host(.copilotforge, .verified), health: nil)
        #expect(old.first { $0.capability == "cancel" }?.available == false)
        #expect(new.first { $0.capability == "cancel" }?.available == true)
    }

    @Test(
        "What a family offers is what a host can do once it is opened",
        arguments: HostFamily.allCases,
        HostTrust.allCases
    )
    func opened(_ family: HostFamily, _ trust: HostTrust) async throws {
        guard trust == .legacy || family.behavior.facts.canBeVerified else { return }
        var host = Self.host(family, trust)
        let certificate = try PinnedCertificate(der: TestCertificate().der)
        if trust == .verified { (host.certificate, host.spki) = (Base64.encode(certificate.der), certificate.spki) }
        try await Sandbox.with { user in
            var context = TerminalContext.process
            context.environment = user.environment
            let promised = family.behavior.capabilities(of: host, health: nil).offered
            let environment = Output(context: context, format: .text).environment()
            try await family.behavior.open(host, environment: environment, configuration: .default) { offer in
                func expect<Part>(_ part: Part?, _ capabilities: CompanionApp.Capability...) {
                    for capability in capabilities {
                        #expect((part != nil) == promised.contains(capability), "\(capability)")
                    }
                }
                expect(offer.devices, .devices, .disconnect)
                expect(offer.models, .models)
                expect(offer.projects, .projects, .chats)
                expect(offer.chats, .messages, .search)
                expect(offer.turns, .prompts)
                expect(offer.creation, .create)
                expect(offer.cancellation, .cancel)
                expect(offer.events, .events)
                expect(offer.changes, .changes, .worktrees)
                expect(offer.approvals, .approvals)
            }
        }
    }

    /// All commands of the tool, in words.
    private static func commands(of command: any ParsableCommand.Type, behind words: String) -> Set<String> {
        let configuration = command.configuration
        let children = configuration.subcommands + configuration.groupedSubcommands.flatMap(\.subcommands)
        return children.reduce(into: [words]) { all, child in
            let name = child.configuration.commandName ?? "?"
            all.formUnion(commands(of: child, behind: "\(words) \(name)"))
        }
    }
}
