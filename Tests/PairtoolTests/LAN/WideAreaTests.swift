import Testing

@testable import pairtool

/// `discover --domain` with a DNS server that has services in a domain (wide-area DNS-SD, RFC 6763, section 11).
@Suite(
    "Discovering in another domain than local",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct WideAreaTests {
    private struct Row: Decodable {
        var name: String
        var family: String
        var addresses: [Address]

        struct Address: Decodable {
            var address: String
            var port: Int
            var interface: String
            var hostName: String
        }
    }

    /// A DNS server on the machine `office`, and a machine `desk` whose Avahi daemon asks it.
    private static let network = """
        add_host office --ipv4-only
        add_host desk --daemon
        start office "$PYTHON" "$SUPPORT/dns.py" office.example _lumiagent._tcp 7001 Studio 10.77.0.1 \\
            _aiclicode._tcp 7002 Attic fd77::1 >$LAN/dns.out
        wait_for_line ready $LAN/dns.out
        on desk sh -c 'echo "nameserver 10.77.0.1" >/run/resolv.conf'
        on desk mount --bind /run/resolv.conf /etc/resolv.conf
        on desk sed -i 's/enable-wide-area=no/enable-wide-area=yes/' /run/avahi.conf
        stop_daemon desk
        start_daemon desk

        """

    @Test("With the Avahi daemon, hosts that a DNS server knows are found, and those of the local network are not")
    func found() async throws {
        let run = try await LAN.run(
            Self.network + """
                responder office
                tell office add _lumiagent._tcp 7003 Local
                on desk "$PAIRTOOL" discover --domain office.example --json
                on desk "$PAIRTOOL" discover --domain none.example; echo "none $?"
                """
        )
        #expect(run.status == 0, "\(run.errors)")
        let rows = run.lines(as: Row.self)
        #expect(rows.map(\.name) == ["Attic", "Studio"], "\(run.output)")
        #expect(rows.map(\.family) == ["aicli", "lumi"])
        #expect(rows.flatMap(\.addresses).map(\.address) == ["fd77::1", "10.77.0.1"])
        #expect(rows.flatMap(\.addresses).map(\.port) == [7002, 7001])
        #expect(rows.flatMap(\.addresses).map(\.hostName) == ["attic.office.example", "studio.office.example"])
        #expect(rows.flatMap(\.addresses).allSatisfy { $0.interface.isEmpty })
        // A domain of which the server knows nothing, as it knows nothing of the other types.
        #expect(run.output.hasSuffix("none 3\n"))
    }

    @Test("A watch in a domain shows its hosts, and without --domain the DNS server is not asked")
    func watched() async throws {
        let run = try await LAN.run(
            Self.network + """
                on desk "$PAIRTOOL" discover --engine daemon; [ $? = 3 ] || fail "something is found"
                ! grep -q lumiagent $LAN/dns.out || fail "the DNS server was asked"
                start desk "$PAIRTOOL" discover --watch --domain office.example -q >$LAN/watch
                watch=$!
                wait_until eval '[ "$(grep -c ^+ $LAN/watch)" = 2 ]'
                kill -INT $watch
                wait $watch
                [ $? = 130 ] || fail "the watch did not end"
                """
        )
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test("The embedded engine refuses a domain and says why, and nothing takes over from a daemon that is away")
    func refused() async throws {
        let run = try await LAN.run(
            """
            add_host desk
            for arguments in "--engine embedded" "--engine embedded --watch" "" "--watch"; do
                on desk "$PAIRTOOL" discover --domain office.example $arguments --json; echo "exit $?"
            done
            on desk "$PAIRTOOL" discover --domain local. --engine embedded; echo "local $?"
            """
        )
        #expect(
            run.output.split(separator: "\n") == ["exit 2", "exit 2", "exit 1", "exit 1", "local 3"],
            "\(run.errors)"
        )
        let errors = run.errors.split(separator: "\n").filter { $0.hasPrefix("{") }
        try #require(errors.count == 4, "\(run.errors)")
        for error in errors.prefix(2) {
            #expect(error.contains(#""code":"discovery.domain_unsupported","exitStatus":2,"#), "\(error)")
            #expect(error.contains("other domains need the Avahi daemon"), "\(error)")
        }
        for error in errors.suffix(2) {
            #expect(error.contains(#""code":"discovery.engine_unavailable","exitStatus":1,"#), "\(error)")
        }
    }
}
