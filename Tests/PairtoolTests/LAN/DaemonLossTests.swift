import Testing

@testable import pairtool

/// What becomes of a browse, and of an advert, whose daemon goes.
@Suite(
    "Losing the Avahi daemon",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct DaemonLossTests {
    @Test("A watch by the daemon says that it is interrupted and resumed, over stops, kills and the end of the bus")
    func daemon() async throws {
        let (run, sections) = try await LANWatch.run(
            """
            add_host studio
            add_host watcher --daemon
            responder studio
            tell studio add _lumiagent._tcp 7001 Studio
            watch watcher --engine daemon
            seen Studio
            mark stopped
            stop_daemon watcher
            seen '"interrupted"'
            tell studio add _lumiagent._tcp 7002 Newer host=newer
            start_daemon watcher
            seen '"added".*Newer'
            seen '"settled"'
            mark killed
            kill_daemon watcher
            seen '"interrupted"'
            start_daemon watcher
            seen '"resumed"'
            seen '"settled"'
            mark bus
            daemon=$(daemon_pid watcher)
            kill -KILL $(on watcher cat /run/bus.pid)
            seen '"interrupted"'
            # Avahi ends with its bus.
            wait_until test ! -d /proc/$daemon
            on watcher rm -f /run/dbus/system_bus_socket
            on watcher $SUPPORT/lan-daemon.sh configure both
            start_daemon watcher
            tell studio add _lumiagent._tcp 7003 Newest host=newest
            seen '"added".*Newest'
            kill $watch
            wait $watch
            status=$?
            [ $status = 130 ] || fail "the watch ended with $status"
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        for mark in ["stopped", "killed", "bus"] {
            let events = sections[mark].filter { ["interrupted", "resumed"].contains($0.event) }
            #expect(events.map(\.event) == ["interrupted", "resumed"], "\(mark)")
            #expect(Set(events.map(\.engine)) == ["daemon"])
            #expect(!sections.kinds(mark).contains("removed"))
        }
    }

    @Test("By default a watch goes over to the embedded engine, and back to the daemon when that has returned")
    func auto() async throws {
        let (run, sections) = try await LANWatch.run(
            """
            add_host studio
            add_host watcher --daemon
            responder studio
            tell studio add _lumiagent._tcp 7001 Studio
            watch watcher
            seen Studio
            mark killed
            kill_daemon watcher
            seen '"settled"'
            tell studio add _lumiagent._tcp 7002 Newer host=newer
            seen '"added".*Newer'
            mark back
            start_daemon watcher
            seen '"settled"' 30
            tell studio add _lumiagent._tcp 7003 Newest host=newest
            seen '"added".*Newest'
            mark stopped
            stop_daemon watcher
            seen '"resumed"'
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        for (mark, engines) in [
            ("killed", ["daemon", "embedded"]), ("back", ["embedded", "daemon"]), ("stopped", ["daemon", "embedded"]),
        ] {
            let events = sections[mark].filter { ["interrupted", "resumed"].contains($0.event) }
            #expect(events.map(\.event) == ["interrupted", "resumed"], "\(mark)")
            #expect(events.compactMap(\.engine) == engines)
            #expect(!sections.kinds(mark).contains("removed"))
        }
    }

    @Test("A host whose daemon is killed stays in sight, and says goodbye by the engine that took over")
    func advert() async throws {
        let (run, sections) = try await LANWatch.run(
            """
            add_host studio --daemon
            add_host watcher
            mkdir $LAN/garden
            start studio "$PAIRTOOL" host --lan --name Shed --project $LAN/garden --json >$LAN/host.out 2>&1
            host=$!
            watch watcher --engine embedded
            seen Shed
            mark killed
            kill_daemon studio
            wait_for_line '"advert_back"' $LAN/host.out
            on watcher "$PAIRTOOL" discover --engine embedded -q >$LAN/again || fail "the host is not found"
            mark goodbye
            kill $host
            seen '"removed"'
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        #expect(!sections.kinds("killed").contains("removed"))
    }

    @Test("A daemon that hangs does not hold up the end of a watch")
    func frozen() async throws {
        let run = try await LAN.run(
            """
            add_host watcher --daemon
            publish watcher Here _lumiagent._tcp 7001
            start watcher "$PAIRTOOL" discover --watch --json >$LAN/watch 2>&1
            watch=$!
            wait_for_line '"settled"' $LAN/watch
            kill -STOP $(daemon_pid watcher)
            kill -INT $watch
            wait_until 10 test ! -d /proc/$watch
            """
        )
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test("Looking for the host to pair with goes on when the daemon is killed")
    func pairing() async throws {
        let run = try await LAN.run(
            """
            add_host studio
            add_host user --daemon
            mkdir $LAN/garden
            start studio "$PAIRTOOL" host --lan --name Shed --project $LAN/garden --json --show-secrets >$LAN/host.out 2>&1
            wait_for_line '"challenge"' $LAN/host.out
            code=$(sed -n 's/.*"code":"\\([0-9]*\\)".*/\\1/p' $LAN/host.out | head -n 1)
            block_multicast studio
            mkfifo $LAN/code
            echo "$code" >$LAN/code.txt
            start user "$PAIRTOOL" pair Shed --code-stdin --json <$LAN/code.txt >$LAN/pair.out 2>$LAN/pair.err
            pair=$!
            wait_until eval 'grep -q . $LAN/pair.err || on user avahi-browse -a -t >/dev/null'
            kill_daemon user
            allow_multicast studio
            wait $pair || fail "pairing: $(cat $LAN/pair.err)"
            cat $LAN/pair.out
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains(#""name":"Shed""#))
    }
}
