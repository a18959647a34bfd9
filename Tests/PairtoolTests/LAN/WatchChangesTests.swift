import Testing

@testable import pairtool

/// What `discover --watch` says of hosts that come, change and go.
@Suite(
    "Watching hosts that come, change and go",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct WatchChangesTests {
    @Test(
        "A host is added when it is announced, changed when its record changes, and removed by its goodbye",
        arguments: ["embedded", "daemon"]
    )
    func changes(engine: String) async throws {
        let (run, sections) = try await LANWatch.run(
            """
            add_host studio
            \(LANWatch.watcher(engine))
            responder studio
            watch watcher --engine \(engine)
            mark appears
            tell studio add _lumiagent._tcp 7001 Studio id=0123456789abcdef name=Studio
            wait_until eval 'latest fe80 && latest 10.77.0.1'
            mark goodbye
            tell studio goodbye Studio
            seen '"removed"'
            mark back
            tell studio add _lumiagent._tcp 7001 Studio id=0123456789abcdef name=Studio
            wait_until eval 'latest fe80 && latest 10.77.0.1'
            mark name
            tell studio add _lumiagent._tcp 7001 Studio id=0123456789abcdef name=Atelier
            seen '"name":"Atelier"'
            mark port
            tell studio add _lumiagent._tcp 7002 Studio id=0123456789abcdef name=Atelier
            wait_until latest -v '"port":7001'
            mark address
            tell studio add _lumiagent._tcp 7002 Studio id=0123456789abcdef name=Atelier \\
                address=10.77.0.9 address=fe80::9
            wait_until latest -v -e '10.77.0.1"' -e 'fe80::77'
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        #expect(sections.words("appears") == ["added", "changed"])
        #expect(sections.words("goodbye").last == "removed")
        #expect(!sections.kinds("goodbye").contains("added"))
        #expect(sections.words("back") == ["added", "changed"])
        for mark in ["name", "port", "address"] { #expect(sections.kinds(mark) == ["changed"], "\(mark)") }
        #expect(Set(sections.last("port", of: "Atelier")?.addresses.map(\.port) ?? []) == [7002])
        let addresses = Set(sections.last("address", of: "Atelier")?.addresses.map(\.address) ?? [])
        #expect(addresses == ["10.77.0.9", "fe80::9%eth0"])
    }

    @Test(
        "A host that dies silently is removed when its records expire, and added when it is back",
        arguments: ["embedded", "daemon"]
    )
    func silence(engine: String) async throws {
        // A PTR record lives longer than the others: what it leads to is gone all the same.
        let (run, sections) = try await LANWatch.run(
            """
            add_host studio
            \(LANWatch.watcher(engine))
            responder studio
            watch watcher --engine \(engine)
            mark appears
            tell studio add _lumiagent._tcp 7001 Short host=short ttl=3
            tell studio add _lumiagent._tcp 7002 Long host=long ttl=3 ptr=600
            seen Short
            seen Long
            mark dead
            tell studio mute
            seen '"removed".*"Short"' 30
            seen '"removed".*"Long"' 30
            mark back
            tell studio speak
            seen '"added".*"Long"' 30
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        // No row that says only that a name does not resolve comes in its place.
        #expect(!sections.kinds("dead").contains("added"))
        #expect(sections["back"].contains { $0.event == "added" && $0.host?.unresolved == false })
    }

    @Test("With --probe, a host that dies silently is marked down before its records expire")
    func probe() async throws {
        // The responder announces what the host itself would, with records that a test can wait for.
        let (run, sections) = try await LANWatch.run(
            """
            add_host studio
            add_host watcher
            mkdir $LAN/garden
            start studio "$PAIRTOOL" host --lan --interface lo --engine embedded --name Shed --project $LAN/garden \\
                --json >$LAN/host.out 2>&1
            wait_for_line '"listening"' $LAN/host.out
            watch watcher --engine embedded --probe
            responder studio
            mark appears
            tell studio add _copilotforge-companion._tcp 7878 Shed ttl=25
            seen '"probed"'
            mark dead
            pause studio
            link_down studio
            seen '"removed"' 40
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        // It is shown before anybody has asked it.
        #expect(sections["appears"].first { $0.host != nil }?.event == "added")
        #expect(sections["appears"].first { $0.host != nil }?.host?.probe == nil)
        #expect(sections["appears"].last { $0.event == "probed" }?.host?.probe?.state == "up")
        let down = try #require(sections["dead"].firstIndex { $0.event == "probed" })
        #expect(sections["dead"][down].host?.probe?.state == "down")
        let removed = try #require(sections["dead"].firstIndex { $0.event == "removed" })
        #expect(down < removed)
    }
}
