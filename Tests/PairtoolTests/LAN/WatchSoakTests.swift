import Testing

@testable import pairtool

/// A day on a busy network in about a minute.
@Suite(
    "Watching for long",
    .timeLimit(.minutes(15)),
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
            seen() { [ "$(events added $1)" -ge $2 ]; }
            quiet() { seen $1 $2 && [ "$(events added $1)" = "$(events removed $1)" ]; }
            number() { sed -n "s/^$1:[^0-9]*\\([0-9]*\\).*/\\1/p" /proc/$2/status; }
            wave=0
            total=0
            # Each wave waits until everybody has seen the one before: whoever is slow would miss what leaves so soon.
            waves() {
                local last=$((wave + $1))
                while [ $wave -lt $last ]; do
                    tell source wave _lumiagent._tcp $((wave += 1)) 50
                    total=$((total + 50))
                    for machine in embedded daemon; do wait_until seen $machine $total; done
                done
                for end in 1 2; do tell source wave _lumiagent._tcp $((wave += 1)) 0; done
            }
            sample() {
                for machine in embedded daemon; do
                    wait_until quiet $machine $total
                    eval "pid=\\$pid_$machine"
                    echo "{\\"machine\\":\\"$machine\\",\\"added\\":$(events added $machine)," \\
                        "\\"removed\\":$(events removed $machine),\\"kilobytes\\":$(number VmRSS $pid)," \\
                        "\\"threads\\":$(number Threads $pid),\\"descriptors\\":$(ls /proc/$pid/fd | wc -l)}"
                done
            }
            waves 10
            sample
            waves 90
            sample
            """
        )
        #expect(run.status == 0, "\(run.errors)\(run.output)")
        let samples = run.lines(as: Sample.self)
        for machine in ["embedded", "daemon"] {
            let own = samples.filter { $0.machine == machine }
            try #require(own.count == 2, "\(run.output)")
            #expect(own[1].added >= 5000 && own[1].removed == own[1].added, "\(run.output)")
            #expect(own[1].kilobytes - own[0].kilobytes < 6 << 10, "\(run.output)")
            // A thread of the pool more or less; a leak would show in thousands.
            #expect(own[1].threads - own[0].threads <= 2)
            #expect(own[1].descriptors <= own[0].descriptors)
        }
    }
}
