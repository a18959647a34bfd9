import Testing

@testable import pairtool

/// That the LAN is one: machines find each other over it, and what breaks it breaks it.
@Suite(
    "Machines on a LAN",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct LANTests {
    @Test("A host is found from other machines with IPv4, with IPv6 and with both, by either engine")
    func found() async throws {
        let run = try await LAN.run(
            """
            add_host studio
            mkdir $LAN/garden
            start studio "$PAIRTOOL" host --lan --name Shed --project $LAN/garden --json >$LAN/host.out 2>&1
            add_host both
            add_host four --ipv4-only --daemon
            add_host six --ipv6-only --daemon
            wait_for_line '"advertised"' $LAN/host.out
            for machine in both four six; do
                on $machine "$PAIRTOOL" discover --json >$LAN/$machine.json || fail "$machine finds nothing"
                sed "s/^{/{\\"machine\\":\\"$machine\\",/" $LAN/$machine.json
            done
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        let rows = run.lines(as: Found.self)
        let expected = ["both": ["10.77.0.1", "fd77::1"], "four": ["10.77.0.1"], "six": ["fd77::1"]]
        #expect(rows.count == expected.count, "\(run.output)")
        for row in rows {
            #expect(row.name == "Shed")
            #expect(Set(row.addresses.map(\.address)) == Set(expected[row.machine] ?? []), "\(row.machine)")
        }
    }

    @Test("On a machine with two interfaces, hosts of both networks are found, and --interface keeps to one")
    func interfaces() async throws {
        let run = try await LAN.run(
            """
            add_host studio --second-interface --daemon
            add_host user --second-interface
            publish studio Studio _lumiagent._tcp 7001
            for arguments in "" "--interface eth0" "--interface eth1"; do
                on user "$PAIRTOOL" discover --json $arguments >$LAN/found || fail "nothing is found $arguments"
                sed "s/^{/{\\"machine\\":\\"$arguments\\",/" $LAN/found
            done
            """
        )
        #expect(run.status == 0, "\(run.errors)")
        let rows = run.lines(as: Found.self)
        let expected = ["": ["eth0", "eth1"], "--interface eth0": ["eth0"], "--interface eth1": ["eth1"]]
        #expect(rows.count == expected.count, "\(run.output)")
        for row in rows { #expect(Set(row.addresses.map(\.interface)) == Set(expected[row.machine] ?? [])) }
    }

    @Test("Over a bridge that drops multicast nothing is found, and then everything; unicast goes over it all the time")
    func multicast() async throws {
        let run = try await LAN.run(
            """
            add_host studio
            add_host user
            mkdir $LAN/garden
            start studio "$PAIRTOOL" host --lan --name Shed --project $LAN/garden --json --show-secrets >$LAN/host.out 2>&1
            wait_for_line '"challenge"' $LAN/host.out
            block_multicast studio
            on user "$PAIRTOOL" discover -q
            echo "blocked: $?"
            sed -n 's/.*"code":"\\([0-9]*\\)".*/\\1/p' $LAN/host.out | head -n 1 |
                on user "$PAIRTOOL" pair --url https://10.77.0.1:7879 --code-stdin -q >&2
            echo "paired: $?"
            allow_multicast studio
            on user "$PAIRTOOL" discover -q >&2
            echo "allowed: $?"
            """
        )
        #expect(run.output == "blocked: 3\npaired: 0\nallowed: 0\n", "\(run.errors)")
    }

    @Test("Over a bad cable that loses and delays, a watch finds the host in the end")
    func badCable() async throws {
        let (run, sections) = try await LANWatch.run(
            """
            add_host studio
            add_host watcher
            netem studio loss 40% delay 150ms
            responder studio
            tell studio add _lumiagent._tcp 7001 Studio
            watch watcher --engine embedded
            seen '"unresolved":false' 60
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        #expect(sections["start"].contains { $0.event == "added" })
    }

    private struct Found: Decodable {
        var machine: String
        var name: String
        var addresses: [LAN.Host.Address]
    }
}
