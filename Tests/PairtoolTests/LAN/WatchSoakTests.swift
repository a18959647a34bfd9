import Testing

/// A day on a busy network in less than a minute.
@Suite(
    "Watching for long",
    .timeLimit(.minutes(10)),
    .enabled(if: LAN.missing.isEmpty, "skipped, missing: \(LAN.missing.joined(separator: ", "))")
)
struct WatchSoakTests {
    private struct Sample: Decodable {
        var machine: String
        var added: Int
        var removed: Int
        var kilobytes: Int
        var threads: Int
        var descriptors: Int
    }

    @Test("Ten thousand comings and goings leave no memory, descriptors or threads behind, with either engine")
    func soak() async throws {
        let run = try await LAN.run(
            """
            add_host source
            add_host embedded
            add_host daemon --daemon
            responder source
            for machine in embedded daemon; do
                start $machine "$PAIRTOOL" discover --watch --json --engine $machine >$LAN/$machine.out 2>&1
                eval "pid_$machine=$!"
                wait_for_line '"settled"' $LAN/$machine.out
            done
            events() { grep -c "\\"event\\":\\"$1\\"" $LAN/$2.out; }
            quiet() { [ "$(events added $1)" -ge $2 ] && [ "$(events added $1)" = "$(events removed $1)" ]; }
            number() { sed -n "s/^$1:[^0-9]*\\([0-9]*\\).*/\\1/p" /proc/$2/status; }
            sample() {
                for machine in embedded daemon; do
                    # A busy machine may lose packets, which is not what this is about: it is counted below.
                    (wait_until 20 quiet $machine $1) 2>/dev/null || true
                    eval "pid=\\$pid_$machine"
                    echo "{\\"machine\\":\\"$machine\\",\\"added\\":$(events added $machine)," \\
                        "\\"removed\\":$(events removed $machine),\\"kilobytes\\":$(number VmRSS $pid)," \\
                        "\\"threads\\":$(number Threads $pid),\\"descriptors\\":$(ls /proc/$pid/fd | wc -l)}"
                done
            }
            tell source waves _lumiagent._tcp 10 50 0.35 $LAN/first
            wait_until 240 test -e $LAN/first
            sample 500
            tell source waves _lumiagent._tcp 90 50 0.35 $LAN/second
            wait_until 420 test -e $LAN/second
            sample 5000
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        let samples = run.lines(as: Sample.self)
        for machine in ["embedded", "daemon"] {
            let own = samples.filter { $0.machine == machine }
            try #require(own.count == 2, "\(run.output)")
            #expect(own[1].added >= 4500 && own[1].added - own[1].removed <= 250, "\(run.output)")
            #expect(own[1].kilobytes - own[0].kilobytes < 6 << 10, "\(run.output)")
            // A thread of the pool more or less; a leak would show in thousands.
            #expect(own[1].threads - own[0].threads <= 2)
            #expect(own[1].descriptors <= own[0].descriptors)
        }
    }
}
