import Foundation
import Testing

/// 500 hosts, each with a service of its own, on one network. Their answers are those of one process, which sends
/// them as 500 machines would, at the pace of one packet in 1.5 ms.
@Suite(
    "500 hosts on a LAN",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct ManyHostsTests {
    /// - Parameter cacheEntries: How many records the daemon keeps. With a number, the crowd sends no more than the
    ///   daemon has time to read, so that it does keep them. Default: its usual limit.
    private func script(_ commands: String, cacheEntries: Int? = nil) -> String {
        """
        add_host crowd --ipv4-only
        add_host desk --ipv4-only --daemon
        \(cacheEntries.map {
            """
            stop_daemon desk
            on desk sed -i 's/^ratelimit-burst/cache-entries-max=\($0)\\n&/' /run/avahi.conf
            on desk mount --bind /run/avahi.conf /etc/avahi/avahi-daemon.conf
            start_daemon desk
            """
        } ?? "")
        start crowd "$PYTHON" "$SUPPORT/raw_responder.py" --many 500 --announce --pace 0.0015 \
            \(cacheEntries == nil ? "" : #"--spare "$(lan_get desk anchor)""#) >$LAN/crowd.out
        wait_for_line ready $LAN/crowd.out 120
        \(commands)
        """
    }

    /// Looks for the hosts. A machine that is busy with something else loses packets: a look that lacks hosts is repeated,
    /// twice at most.
    private func looks(_ options: String) -> String {
        """
        for look in 1 2 3; do
            on desk "$PAIRTOOL" discover \(options) --json --timeout 120s >$LAN/hosts || fail "look $look ended with $?"
            found=$(wc -l <$LAN/hosts)
            echo "look $look: $found hosts" >&2
            [ $found -lt 500 ] || break
        done
        cat $LAN/hosts
        """
    }

    private func expectAll(_ run: LAN.Run) {
        let hosts = run.lines(as: LAN.Host.self)
        #expect(hosts.count == 500)
        #expect(Set(hosts.map(\.id)).count == 500)
        #expect(hosts.allSatisfy { !$0.unresolved && $0.addresses.count == 1 })
        // Each has its own address and port.
        #expect(Set(hosts.compactMap(\.addresses.first)).count == 500)
    }

    @Test("The daemon, where it keeps enough records, gives all of them, within the objects that it allows a client")
    func daemon() async throws {
        let run = try await LAN.run(script(looks("--engine daemon"), cacheEntries: 20_000))
        #expect(run.status == 0, "\(run.errors)")
        #expect(!run.errors.contains("warning"))
        expectAll(run)
    }

    @Test("The embedded engine gives all of them")
    func embedded() async throws {
        let run = try await LAN.run(script(looks("--engine embedded --interface eth0")))
        #expect(run.status == 0, "\(run.errors)")
        #expect(!run.errors.contains("warning"))
        expectAll(run)
    }

    @Test("A daemon that keeps too few records cannot give all: that is said, and the embedded engine gives the rest")
    func fullDaemon() async throws {
        let run = try await LAN.run(
            script(
                """
                on desk "$PAIRTOOL" discover --engine daemon --json --timeout 120s >$LAN/some || fail "nothing is found"
                [ "$(wc -l <$LAN/some)" -lt 500 ] || fail "the daemon keeps more than it says"
                \(looks("--interface eth0"))
                """,
                cacheEntries: 1000
            )
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains(#"{"warning":{"code":"discovery.incomplete""#))
        #expect(run.errors.contains("Looking again with the embedded engine"))
        expectAll(run)
    }
}
