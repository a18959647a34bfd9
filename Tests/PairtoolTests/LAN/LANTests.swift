import Testing

/// That the LAN is one: machines find each other over it, and what breaks it breaks it.
@Suite(
    "Machines on a LAN",
    .serialized,
    .timeLimit(.minutes(2)),
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

    private struct Found: Decodable {
        var machine: String
        var name: String
        var addresses: [LAN.Host.Address]
    }
}
