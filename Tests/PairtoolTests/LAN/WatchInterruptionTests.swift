import Testing

@testable import pairtool

/// What `discover --watch` makes of times in which nothing was heard.
@Suite(
    "Watching over interruptions of the network",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct WatchInterruptionTests {
    @Test(
        "After sleep, what has come is added, what has gone is removed and what has stayed is not mentioned",
        arguments: ["embedded", "daemon"]
    )
    func asleep(engine: String) async throws {
        // Asleep and without a link: nothing of what happens meanwhile is heard later. The daemon, which slept too,
        // believes its records until they expire.
        let (run, sections) = try await LANWatch.run(
            """
            add_host studio
            \(LANWatch.watcher(engine))
            responder studio
            watch watcher --engine \(engine)
            tell studio add _lumiagent._tcp 7001 Stays
            tell studio add _lumiagent._tcp 7002 Goes host=goes ttl=15
            seen '10.77.0.1.*fe80.*"Stays"'
            seen '10.77.0.1.*fe80.*"Goes"'
            mark asleep
            block_multicast watcher
            pause watcher
            tell studio add _lumiagent._tcp 7003 Comes
            tell studio goodbye Goes
            sleep 7
            allow_multicast watcher
            resume watcher
            seen '"settled"'
            seen '"removed".*"Goes"' 30
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        let words = sections.words("asleep")
        // The program looks once a moment whether it slept: what is heard right after the sleep may be told before that.
        let (cut, back) = (words.firstIndex(of: "interrupted"), words.firstIndex(of: "resumed"))
        #expect((cut ?? .max) < (back ?? -1), "\(words)")
        #expect(sections["asleep"].allSatisfy { $0.engine == nil || $0.engine == engine })
        // Whoever keeps no records of its own over the sleep knows at once.
        if engine == "embedded" { #expect(words.last == "settled") }
        #expect(sections["asleep"].contains { $0.event == "added" && $0.host?.name == "Comes" })
        #expect(sections["asleep"].contains { $0.event == "removed" && $0.host?.name == "Goes" })
        #expect(sections.last("asleep", of: "Stays") == nil)
    }

    @Test("After the link was away, what has come is added", arguments: ["embedded", "daemon"])
    func link(engine: String) async throws {
        let (run, sections) = try await LANWatch.run(
            """
            add_host studio
            \(LANWatch.watcher(engine))
            responder studio
            watch watcher --engine \(engine)
            tell studio add _lumiagent._tcp 7001 Stays
            seen Stays
            seen '10.77.0.1".*fe80'
            mark away
            link_down watcher
            tell studio add _lumiagent._tcp 7003 Comes
            wait_until eval '! on watcher grep -q 1 /sys/class/net/eth0/carrier'
            link_up watcher
            seen '"added".*Comes'
            seen '"settled"'
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        #expect(!sections["away"].contains { $0.event == "removed" })
        #expect(sections["away"].contains { $0.event == "resumed" && $0.engine == engine })
    }

    @Test(
        "An interface that is switched off and on, and an address that changes, lose nothing",
        arguments: ["embedded", "daemon"]
    )
    func interface(engine: String) async throws {
        let (run, sections) = try await LANWatch.run(
            """
            add_host studio
            \(LANWatch.watcher(engine))
            responder studio
            watch watcher --engine \(engine)
            tell studio add _lumiagent._tcp 7001 Studio
            seen Studio
            seen '10.77.0.1".*fe80'
            mark off
            on watcher ip link set eth0 down
            seen '"removed"'
            mark on
            on watcher ip link set eth0 up
            seen '"added"'
            seen '10.77.0.1"'
            seen '"settled"'
            mark address
            change_address watcher 10.77.0.77/24
            seen '10.77.0.1"'
            mark after
            tell studio add _lumiagent._tcp 7001 Newer host=newer
            seen Newer
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        #expect(sections.last("off", of: "Studio") != nil)
        #expect(!sections.kinds("on").contains("removed"))
        // IPv6 has not changed: the host is there all the time.
        #expect(!sections.kinds("address").contains("removed"))
    }

    @Test("A host that moves to another address is a changed host", arguments: ["embedded", "daemon"])
    func hostMoves(engine: String) async throws {
        let (run, sections) = try await LANWatch.run(
            """
            add_host studio
            \(LANWatch.watcher(engine))
            mkdir $LAN/garden
            start studio "$PAIRTOOL" host --lan --name Shed --project $LAN/garden --json >$LAN/host.out 2>&1
            watch watcher --engine \(engine)
            seen '10.77.0.1".*fd77::1"'
            mark moves
            change_address studio 10.77.0.88/24
            seen '10.77.0.88"'
            wait_until latest -v '10.77.0.1"'
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        #expect(sections.kinds("moves") == ["changed"])
    }
}
